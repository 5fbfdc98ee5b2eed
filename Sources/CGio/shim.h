#pragma once
#include <gio/gio.h>

// Casts of GObject are macros, and property getters take one: neither is visible to Swift.

// A network monitor on the calling thread's own context, the best kind that works here; NULL when none does.
//
// g_network_monitor_get_default() has one for the whole process, which hears nothing any more once the thread that asked first
// has gone. GIO_USE_NETWORK_MONITOR names a kind, as it does for that one.
static inline gpointer hearth_gio_make_monitor(GCancellable *cancellable) {
    // No public call only registers GIO's kinds; this one does it on the way, and does little else.
    (void)g_proxy_resolver_get_default();
    GIOExtensionPoint *point = g_io_extension_point_lookup(G_NETWORK_MONITOR_EXTENSION_POINT_NAME);
    if (point == NULL) return NULL;
    const char *wanted = g_getenv("GIO_USE_NETWORK_MONITOR");
    GIOExtension *named = wanted != NULL ? g_io_extension_point_get_extension_by_name(point, wanted) : NULL;
    GList only = {.data = named, .next = NULL, .prev = NULL};
    for (GList *each = named != NULL ? &only : g_io_extension_point_get_extensions(point); each; each = each->next) {
        GType type = g_io_extension_get_type((GIOExtension *)each->data);
        gpointer monitor = g_type_is_a(type, G_TYPE_INITABLE)
                               ? (gpointer)g_initable_new(type, cancellable, NULL, NULL)
                               : (gpointer)g_object_new(type, NULL);
        if (monitor != NULL) return monitor;
    }
    return NULL;
}

// Such as GNetworkMonitorNM: who tells, and so how much it can know.
static inline const char *hearth_gio_type_name(gpointer object) { return G_OBJECT_TYPE_NAME(object); }

static inline gboolean hearth_gio_is_available(gpointer monitor) {
    return g_network_monitor_get_network_available(G_NETWORK_MONITOR(monitor));
}
static inline gboolean hearth_gio_is_metered(gpointer monitor) {
    return g_network_monitor_get_network_metered(G_NETWORK_MONITOR(monitor));
}

#include "notifications.h"
