"""Asks Evolution Data Server for the instants of stored calendars, and for the names of stored contacts.

    dbus-run-session -- python3 scripts/stores/evolution.py FOLDER      with Debian's own python3, which has GObject's bindings

FOLDER/homes has the homes of `imported.py`. Each calendar goes into one of its own, since their zones can have one name.
Writes FOLDER/evolution.json: by file the instants of three years, in UTC, and the names of the contacts.
"""
import datetime
import json
import sys
import time
from pathlib import Path

import gi

gi.require_version("ECal", "2.0")
gi.require_version("EBook", "1.2")
gi.require_version("EBookContacts", "1.2")
gi.require_version("EDataServer", "1.2")
gi.require_version("ICalGLib", "3.0")
from gi.repository import EBook, EBookContacts, ECal, EDataServer, GLib, ICalGLib  # noqa: E402

FROM = int(datetime.datetime(2025, 1, 1, tzinfo=datetime.UTC).timestamp())
UNTIL = int(datetime.datetime(2028, 1, 1, tzinfo=datetime.UTC).timestamp())


def source(registry, name, kind):
    """A new calendar or address book of this device."""
    made = EDataServer.Source.new_with_uid(f"hearth-{name}", None)
    made.set_display_name(name)
    made.set_parent("local-stub")
    made.get_extension(kind).set_backend_name("local")
    registry.commit_source_sync(made, None)
    return registry.ref_source(made.get_uid()) or made


def connected(client, *arguments):
    """A connection. The server learns of a new source a moment after the registry."""
    for _ in range(100):
        try:
            # Without waiting for the backend to call itself connected, which local ones do not.
            return client(*arguments, 0xFFFFFFFF, None)
        except GLib.Error as error:
            problem = error
            time.sleep(0.1)
    raise problem


def calendar(registry, index, files):
    """The starts of the occurrences in a calendar with the components of files."""
    kind = EDataServer.SOURCE_EXTENSION_CALENDAR
    client = connected(ECal.Client.connect_sync, source(registry, f"c{index}", kind), ECal.ClientSourceType.EVENTS)
    # Times without a zone are those of the device.
    client.set_default_timezone(ICalGLib.Timezone.get_builtin_timezone("America/New_York"))
    for file in files:
        client.receive_objects_sync(ICalGLib.Component.new_from_string(file), ECal.OperationFlags.NONE, None)
    starts = []

    def add(component, start, end, *_):
        if "STATUS:CANCELLED" not in component.as_ical_string():
            starts.append(moment(start, client))
        return True

    client.generate_instances_sync(FROM, UNTIL, None, add)
    return starts


def moment(time, client):
    if time.is_date():
        return f"{time.get_year():04}-{time.get_month():02}-{time.get_day():02}"
    zone = time.get_timezone() or client.get_default_timezone()
    seconds = time.as_timet_with_zone(zone)
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def contacts(registry, index, files):
    client = connected(EBook.BookClient.connect_sync, source(registry, f"b{index}", EDataServer.SOURCE_EXTENSION_ADDRESS_BOOK))
    for file in files:
        client.add_contact_sync(EBookContacts.Contact.new_from_vcard(file), EBookContacts.BookOperationFlags.NONE, None)
    found = client.get_contacts_sync(EBookContacts.BookQuery.any_field_contains("").to_string(), None)[1]
    return [contact.get_property("full-name") for contact in found]


def texts(folder, suffix):
    return [file.read_text(encoding="utf-8") for file in sorted(folder.glob("*" + suffix))]


def main():
    folder = Path(sys.argv[1])
    registry = EDataServer.SourceRegistry.new_sync(None)
    found = {}
    for index, home in enumerate(sorted((folder / "homes").iterdir())):
        one = {}
        try:
            if files := texts(home / "calendar" / "personal", ".ics"):
                one["starts"] = calendar(registry, index, files)
            if files := texts(home / "contacts" / "personal", ".vcf"):
                one["names"] = contacts(registry, index, files)
        except Exception as error:
            one["error"] = str(error)
        found[home.name] = one
    (folder / "evolution.json").write_text(json.dumps(found), encoding="utf-8")


main()
