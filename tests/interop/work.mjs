// What a provider and a holder of the interop square do, in Node and in a tab (README.md).

export const tokens = ["lorem ", "ipsum ", "n\u00e9 ", "\u6f22\u5b57 ", "\ud83d", "\ude00 ", '"quoted\\ ', "\n"];
