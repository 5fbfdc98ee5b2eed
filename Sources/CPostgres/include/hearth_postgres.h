// The part of libpq (PostgreSQL's client library) that Hearth uses. The library is loaded at the first call, so that a program
// that never speaks with PostgreSQL runs without it, and is built without its headers.
#pragma once
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A connection (`PGconn`), used by one thread at a time.
typedef struct hearth_pg_connection hearth_pg_connection;
/// The result of a statement (`PGresult`).
typedef struct hearth_pg_result hearth_pg_result;

/// Whether libpq 5 can be loaded on this machine.
bool hearth_pg_available(void);
/// Whether a text is an address or a list of settings that libpq can read (`PQconninfoParse`).
bool hearth_pg_is_address(const char *address);
/// Connects (`PQconnectdbParams`); blocks for at most `seconds` for each host. NULL without the library or without memory.
/// The connection may be in a failed state; the caller closes it in any case.
hearth_pg_connection *hearth_pg_connect(const char *address, int seconds);
/// Whether the connection can be used (`PQstatus`).
bool hearth_pg_is_open(const hearth_pg_connection *connection);
/// The last failure of the connection (`PQerrorMessage`), valid until its next use.
const char *hearth_pg_message(const hearth_pg_connection *connection);
/// Closes a connection (`PQfinish`).
void hearth_pg_close(hearth_pg_connection *connection);

/// Runs the statements of a script (`PQexec`). NULL if the connection broke or memory is short.
hearth_pg_result *hearth_pg_run(hearth_pg_connection *connection, const char *script);
/// Runs one statement with `count` parameters (`PQexecParams`): texts, or bytes where `formats` is 1. Results are texts.
hearth_pg_result *hearth_pg_query(
    hearth_pg_connection *connection, const char *statement, int count, const char *const *values, const int *lengths,
    const int *formats);
/// Whether a result is that of a statement that was carried out (`PQresultStatus`).
bool hearth_pg_succeeded(const hearth_pg_result *result);
/// The five characters of SQLSTATE of a failure (`PQresultErrorField`); empty without one.
const char *hearth_pg_state(const hearth_pg_result *result);
int hearth_pg_row_count(const hearth_pg_result *result);
int hearth_pg_column_count(const hearth_pg_result *result);
/// The number of a column's type (`PQftype`): 20, 21 and 23 for whole numbers, 16 for truth values, 17 for bytes, 700 and 701
/// for numbers.
unsigned hearth_pg_type(const hearth_pg_result *result, int column);
bool hearth_pg_is_null(const hearth_pg_result *result, int row, int column);
/// The text of a value and its length in bytes; valid until the result is freed.
const char *hearth_pg_value(const hearth_pg_result *result, int row, int column);
int hearth_pg_length(const hearth_pg_result *result, int row, int column);
/// Frees a result (`PQclear`); NULL is ignored.
void hearth_pg_free(hearth_pg_result *result);

#ifdef __cplusplus
}
#endif
