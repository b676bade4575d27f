/* chordal.h: everything a program needs, in reading order.
 *
 * A *host* provides *objects* and holds *references* to objects of other hosts. It does no input or
 * output: bytes and the time go in, events, bytes and the next deadline come out. See docs/architecture.md. */
#ifndef CHORDAL_H
#define CHORDAL_H

#include "chordal/base.h"
#include "chordal/error.h"
#include "chordal/memory.h"
#include "chordal/value.h"
#include "chordal/record.h"
#include "chordal/host.h"
#include "chordal/object.h"
#include "chordal/reference.h"
#include "chordal/transaction.h"
#include "chordal/table.h"
#include "chordal/link.h"
#include "chordal/placement.h"
#include "chordal/authority.h"
#include "chordal/store.h"
#include "chordal/version.h"

#endif
