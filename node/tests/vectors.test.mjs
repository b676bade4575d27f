// The shared vectors on the addon.

import { vectorTests } from "./vectors.mjs";

vectorTests();
