#pragma once
#include <libxml/xmlversion.h>
// libxml2's own ICU headers and those of Foundation cannot be imported into one Swift file; no used structure needs them.
#undef LIBXML_ICU_ENABLED
#include <libxml/HTMLparser.h>
#include <libxml/tree.h>
#include <libxml/xmlreader.h>
