#pragma once
#include <libical/ical.h>
#include <stdlib.h>
#include <string.h>

// Wrappers for structures of libical that are large, hold macros, or are passed by value.

// A time of day on a clock on the wall, without a zone.
typedef struct {
    int year, month, day, hour, minute, second;
} hearth_wall;

// Sets up libical for this process: errors are results, and an error of the text never ends the process.
static inline void hearth_ical_set_up(void) {
    icalerror_set_errors_are_fatal(0);
    ical_set_unknown_token_handling_setting(ICAL_DISCARD_TOKEN);
}

static inline struct icaltimetype hearth_ical_time(hearth_wall wall) {
    struct icaltimetype time = icaltime_null_time();
    time.year = wall.year;
    time.month = wall.month;
    time.day = wall.day;
    time.hour = wall.hour;
    time.minute = wall.minute;
    time.second = wall.second;
    return time;
}

// Begins the recurrence of a rule at a time (icalrecur_iterator_new); NULL if the rule is not valid or never matches.
static inline icalrecur_iterator *hearth_ical_recurrence(const char *rule, hearth_wall start) {
    struct icalrecurrencetype parsed = icalrecurrencetype_from_string(rule);
    if (parsed.freq == ICAL_NO_RECURRENCE) return NULL;
    icalrecur_iterator *iterator = icalrecur_iterator_new(parsed, hearth_ical_time(start));
    free(parsed.rscale);
    return iterator;
}

// The next time of a recurrence (icalrecur_iterator_next); 0 after the last one.
static inline int hearth_ical_next(icalrecur_iterator *iterator, hearth_wall *wall) {
    struct icaltimetype time = icalrecur_iterator_next(iterator);
    if (icaltime_is_null_time(time)) return 0;
    wall->year = time.year;
    wall->month = time.month;
    wall->day = time.day;
    wall->hour = time.hour;
    wall->minute = time.minute;
    wall->second = time.second;
    return 1;
}

// The seconds east of UTC of a zone at a time in UTC (icaltimezone_get_utc_offset_of_utc_time).
static inline int hearth_ical_offset(icaltimezone *zone, hearth_wall utc) {
    struct icaltimetype time = hearth_ical_time(utc);
    int is_daylight = 0;
    return icaltimezone_get_utc_offset_of_utc_time(zone, &time, &is_daylight);
}

// The zone of a VTIMEZONE in text; NULL if libical cannot read it. The caller frees it with icaltimezone_free(zone, 1).
static inline icaltimezone *hearth_ical_zone(const char *text) {
    icalcomponent *component = icalparser_parse_string(text);
    if (component == NULL) return NULL;
    if (icalcomponent_isa(component) != ICAL_VTIMEZONE_COMPONENT) {
        icalcomponent_free(component);
        return NULL;
    }
    icaltimezone *zone = icaltimezone_new();
    if (zone == NULL || !icaltimezone_set_component(zone, component)) {
        if (zone != NULL) icaltimezone_free(zone, 1);
        icalcomponent_free(component);
        return NULL;
    }
    return zone;
}
