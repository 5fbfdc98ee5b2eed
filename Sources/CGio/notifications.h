#pragma once
#include <gio/gio.h>

// Notifications of a desktop on a connection of its own: that of g_bus_get() ends the process when its bus goes away.

#define HEARTH_NOTICES_NAME "org.freedesktop.Notifications"
#define HEARTH_NOTICES_PATH "/org/freedesktop/Notifications"

enum HearthNoticesAbility { HEARTH_NOTICES_ACTIONS = 1, HEARTH_NOTICES_MARKUP = 2 };

// The milliseconds that a call waits for its reply.
enum { hearth_notices_wait = 5000 };

// A signal: the notification and the name of the button; an empty name if it was closed.
typedef struct {
    guint32 number;
    char name[64];
} HearthNotice;

static inline GAsyncQueue *hearth_notices_queue(void) { return g_async_queue_new_full(g_free); }

static inline void hearth_notices_signal(GDBusConnection *bus, const gchar *sender, const gchar *path,
                                         const gchar *interface, const gchar *signal, GVariant *values,
                                         gpointer queue) {
    (void)bus, (void)sender, (void)path, (void)interface;
    HearthNotice *notice = g_new0(HearthNotice, 1);
    if (g_strcmp0(signal, "ActionInvoked") == 0 && g_variant_is_of_type(values, G_VARIANT_TYPE("(us)"))) {
        const gchar *name = NULL;
        g_variant_get(values, "(u&s)", &notice->number, &name);
        g_strlcpy(notice->name, name, sizeof notice->name);
        // An empty name means that the notification was closed.
        if (notice->name[0] == '\0') g_strlcpy(notice->name, "default", sizeof notice->name);
    } else if (g_strcmp0(signal, "NotificationClosed") == 0 && g_variant_is_of_type(values, G_VARIANT_TYPE("(uu)"))) {
        g_variant_get(values, "(uu)", &notice->number, NULL);
    } else {
        g_free(notice);
        return;
    }
    g_async_queue_push((GAsyncQueue *)queue, notice);
}

// g_dbus_connection_new_for_address_sync; NULL if the bus cannot be used. Signals come to the caller's context.
static inline GDBusConnection *hearth_notices_connect(const char *address, GAsyncQueue *queue,
                                                      GCancellable *cancellable) {
    GDBusConnection *bus = g_dbus_connection_new_for_address_sync(
        address,
        (GDBusConnectionFlags)(G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
                               G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION),
        NULL, cancellable, NULL);
    if (bus == NULL) return NULL;
    g_dbus_connection_signal_subscribe(bus, HEARTH_NOTICES_NAME, HEARTH_NOTICES_NAME, NULL, HEARTH_NOTICES_PATH, NULL,
                                       G_DBUS_SIGNAL_FLAGS_NONE, hearth_notices_signal, g_async_queue_ref(queue),
                                       (GDestroyNotify)g_async_queue_unref);
    return bus;
}

static inline void hearth_notices_disconnect(GDBusConnection *bus) {
    g_dbus_connection_close_sync(bus, NULL, NULL);
    g_object_unref(bus);
}

static inline gboolean hearth_notices_is_open(GDBusConnection *bus) { return !g_dbus_connection_is_closed(bus); }

// Whether a program shows notifications; none is started for the question.
static inline gboolean hearth_notices_has_owner(GDBusConnection *bus, GCancellable *cancellable) {
    GVariant *reply = g_dbus_connection_call_sync(
        bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner",
        g_variant_new("(s)", HEARTH_NOTICES_NAME), G_VARIANT_TYPE("(b)"), G_DBUS_CALL_FLAGS_NONE, hearth_notices_wait,
        cancellable, NULL);
    if (reply == NULL) return FALSE;
    gboolean has_owner = FALSE;
    g_variant_get(reply, "(b)", &has_owner);
    g_variant_unref(reply);
    return has_owner;
}

// GetCapabilities, as a sum of HearthNoticesAbility.
static inline guint32 hearth_notices_abilities(GDBusConnection *bus, GCancellable *cancellable) {
    GVariant *reply = g_dbus_connection_call_sync(
        bus, HEARTH_NOTICES_NAME, HEARTH_NOTICES_PATH, HEARTH_NOTICES_NAME, "GetCapabilities", NULL,
        G_VARIANT_TYPE("(as)"), G_DBUS_CALL_FLAGS_NO_AUTO_START, hearth_notices_wait, cancellable, NULL);
    if (reply == NULL) return 0;
    GVariantIter *names = NULL;
    const gchar *name = NULL;
    guint32 abilities = 0;
    g_variant_get(reply, "(as)", &names);
    while (g_variant_iter_next(names, "&s", &name)) {
        if (g_strcmp0(name, "actions") == 0) abilities |= HEARTH_NOTICES_ACTIONS;
        if (g_strcmp0(name, "body-markup") == 0) abilities |= HEARTH_NOTICES_MARKUP;
    }
    g_variant_iter_free(names);
    g_variant_unref(reply);
    return abilities;
}

// Notify: the number of the notification, 0 if it was refused. `actions` are names and labels in turn, then NULL.
static inline guint32 hearth_notices_show(GDBusConnection *bus, guint32 replaced, const char *title, const char *body,
                                          const char **actions, GCancellable *cancellable) {
    GVariantBuilder hints;
    g_variant_builder_init(&hints, G_VARIANT_TYPE("a{sv}"));
    g_variant_builder_add(&hints, "{sv}", "urgency", g_variant_new_byte(1));
    GVariant *reply = g_dbus_connection_call_sync(
        bus, HEARTH_NOTICES_NAME, HEARTH_NOTICES_PATH, HEARTH_NOTICES_NAME, "Notify",
        // It stays until a person answers it.
        g_variant_new("(susss^asa{sv}i)", "Hearth", replaced, "appointment-soon", title, body, actions, &hints, 0),
        G_VARIANT_TYPE("(u)"), G_DBUS_CALL_FLAGS_NO_AUTO_START, hearth_notices_wait, cancellable, NULL);
    if (reply == NULL) return 0;
    guint32 number = 0;
    g_variant_get(reply, "(u)", &number);
    g_variant_unref(reply);
    return number;
}

static inline void hearth_notices_close(GDBusConnection *bus, guint32 number, GCancellable *cancellable) {
    GVariant *reply = g_dbus_connection_call_sync(bus, HEARTH_NOTICES_NAME, HEARTH_NOTICES_PATH, HEARTH_NOTICES_NAME,
                                                  "CloseNotification", g_variant_new("(u)", number), NULL,
                                                  G_DBUS_CALL_FLAGS_NO_AUTO_START, hearth_notices_wait, cancellable,
                                                  NULL);
    if (reply != NULL) g_variant_unref(reply);
}

// The next signal; false if none waits.
static inline gboolean hearth_notices_next(GAsyncQueue *queue, guint32 *number, char *name, gsize size) {
    HearthNotice *notice = (HearthNotice *)g_async_queue_try_pop(queue);
    if (notice == NULL) return FALSE;
    *number = notice->number;
    g_strlcpy(name, notice->name, size);
    g_free(notice);
    return TRUE;
}
