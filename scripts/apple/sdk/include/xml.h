// The headers of libxml2 that the sources use: gnome.pages.gitlab.gnome.org/libxml2/html
#pragma once
#include <libxml/xmlversion.h>
// Its ICU headers are not here, and no used structure needs them.
#undef LIBXML_ICU_ENABLED
#include <libxml/HTMLparser.h>
#include <libxml/tree.h>
#include <libxml/xmlreader.h>
