#include "hearth_postgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

// The functions of libpq by their declarations in libpq-fe.h; its two enumerations are passed as int.
static struct {
    void *(*connect)(const char *const *, const char *const *, int);
    void *(*parse)(const char *, char **);
    void (*free_options)(void *);
    void (*free_memory)(void *);
    int (*status)(const void *);
    char *(*message)(const void *);
    void (*finish)(void *);
    void *(*run)(void *, const char *);
    void *(*query)(void *, const char *, int, const unsigned *, const char *const *, const int *, const int *, int);
    int (*result_status)(const void *);
    char *(*field)(const void *, int);
    int (*rows)(const void *);
    int (*columns)(const void *);
    unsigned (*type)(const void *, int);
    int (*is_null)(const void *, int, int);
    char *(*value)(const void *, int, int);
    int (*length)(const void *, int, int);
    void (*clear)(void *);
    void *(*notices)(void *, void (*)(void *, const char *), void *);
} pq;

static bool is_loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool find(void *library, const char *name, void *target) {
    void *symbol = dlsym(library, name);
    // POSIX allows this conversion for dlsym, ISO C has none.
    *(void **)target = symbol;
    return symbol != NULL;
}

static void load(void) {
    static const char *const names[] = {
#ifdef __APPLE__
        "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib", "/usr/local/opt/libpq/lib/libpq.5.dylib",
#else
        "libpq.so.5",
#endif
    };
    void *library = NULL;
    for (size_t index = 0; library == NULL && index < sizeof names / sizeof *names; index++) {
        library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
    }
    if (library == NULL) return;
    is_loaded = find(library, "PQconnectdbParams", &pq.connect) && find(library, "PQconninfoParse", &pq.parse)
        && find(library, "PQconninfoFree", &pq.free_options) && find(library, "PQfreemem", &pq.free_memory)
        && find(library, "PQstatus", &pq.status) && find(library, "PQerrorMessage", &pq.message)
        && find(library, "PQfinish", &pq.finish) && find(library, "PQexec", &pq.run)
        && find(library, "PQexecParams", &pq.query) && find(library, "PQresultStatus", &pq.result_status)
        && find(library, "PQresultErrorField", &pq.field) && find(library, "PQntuples", &pq.rows)
        && find(library, "PQnfields", &pq.columns) && find(library, "PQftype", &pq.type)
        && find(library, "PQgetisnull", &pq.is_null) && find(library, "PQgetvalue", &pq.value)
        && find(library, "PQgetlength", &pq.length) && find(library, "PQclear", &pq.clear)
        && find(library, "PQsetNoticeProcessor", &pq.notices);
}

bool hearth_pg_available(void) {
    pthread_once(&once, load);
    return is_loaded;
}

bool hearth_pg_is_address(const char *address) {
    if (!hearth_pg_available()) return false;
    char *message = NULL;
    void *options = pq.parse(address, &message);
    // The message may quote a part of the address, and so of a password.
    if (message != NULL) pq.free_memory(message);
    if (options == NULL) return false;
    pq.free_options(options);
    return true;
}

// libpq prints the server's notices to stderr otherwise.
static void ignore(void *context, const char *notice) {
    (void)context;
    (void)notice;
}

hearth_pg_connection *hearth_pg_connect(const char *address, int seconds) {
    if (!hearth_pg_available()) return NULL;
    char timeout[16];
    snprintf(timeout, sizeof timeout, "%d", seconds);
    // A later setting wins: the address may have its own.
    const char *const names[] = {"connect_timeout", "tcp_user_timeout", "keepalives_idle", "application_name", "dbname",
        "client_encoding", NULL};
    const char *const values[] = {timeout, "10000", "20", "hearth", address, "UTF8", NULL};
    void *connection = pq.connect(names, values, 1);
    if (connection != NULL) pq.notices(connection, ignore, NULL);
    return connection;
}

bool hearth_pg_is_open(const hearth_pg_connection *connection) { return pq.status(connection) == 0; }

const char *hearth_pg_message(const hearth_pg_connection *connection) { return pq.message(connection); }

void hearth_pg_close(hearth_pg_connection *connection) { pq.finish(connection); }

hearth_pg_result *hearth_pg_run(hearth_pg_connection *connection, const char *script) {
    return pq.run(connection, script);
}

hearth_pg_result *hearth_pg_query(
    hearth_pg_connection *connection, const char *statement, int count, const char *const *values, const int *lengths,
    const int *formats) {
    return pq.query(connection, statement, count, NULL, values, lengths, formats, 0);
}

bool hearth_pg_succeeded(const hearth_pg_result *result) {
    // PGRES_EMPTY_QUERY, PGRES_COMMAND_OK, PGRES_TUPLES_OK.
    int status = pq.result_status(result);
    return status >= 0 && status <= 2;
}

const char *hearth_pg_state(const hearth_pg_result *result) {
    // PG_DIAG_SQLSTATE.
    const char *state = pq.field(result, 'C');
    return state == NULL ? "" : state;
}

int hearth_pg_row_count(const hearth_pg_result *result) { return pq.rows(result); }

int hearth_pg_column_count(const hearth_pg_result *result) { return pq.columns(result); }

unsigned hearth_pg_type(const hearth_pg_result *result, int column) { return pq.type(result, column); }

bool hearth_pg_is_null(const hearth_pg_result *result, int row, int column) {
    return pq.is_null(result, row, column) != 0;
}

const char *hearth_pg_value(const hearth_pg_result *result, int row, int column) {
    return pq.value(result, row, column);
}

int hearth_pg_length(const hearth_pg_result *result, int row, int column) { return pq.length(result, row, column); }

void hearth_pg_free(hearth_pg_result *result) {
    if (result != NULL) pq.clear(result);
}
