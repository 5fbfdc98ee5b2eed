// Words of the records.
export default {
    // Records
    "stores.title": "Einträge", "stores.search": "Suchen", "stores.saved": "Gesichert", "stores.deleted": "Gelöscht", "stores.unreadable.one": "{n} Datei ist nicht lesbar und bleibt, wie sie ist.", "stores.unreadable.other": "{n} Dateien sind nicht lesbar und bleiben, wie sie sind.",
    "stores.filter": "Was gezeigt wird", "stores.collection": "Kalender oder Liste", "stores.collection.all": "Alle Listen", "stores.collection.none": "Ohne Liste", "stores.reminders.show.open": "Offen", "stores.reminders.show.today": "Heute", "stores.reminders.show.late": "Überfällig", "stores.reminders.no-date": "Ohne Datum",
    "stores.import": "Importieren", "stores.import.hint": "Eine Datei eines Kalenders (.ics) oder eines Adressbuchs (.vcf)", "stores.export": "Exportieren", "stores.import.too-large": "{name} ist größer als {size} MiB. Teilen Sie die Datei zuerst.", "stores.imported": "{store}: {added} neu, {replaced} geändert, {known} schon bekannt.",
    "stores.all": "Alle", "stores.all.none": "Nichts steht an, und Notizen gibt es keine.", "stores.all.hint": "Fragen Sie im Chat, oder wählen Sie oben eine Art.", "stores.kinds": "Arten, die gezeigt werden",
    "stores.calendar": "Kalender", "stores.calendar.add": "Neuer Termin", "stores.calendar.edit": "Termin", "stores.calendar.none": "Keine Termine ab diesem Tag.", "stores.calendar.hint": "Im Chat: „Mittagessen mit Anna am Freitag um eins“.",
    "stores.calendar.all-day": "Ganztägig", "stores.calendar.repeats": "Wiederholt", "stores.calendar.invitation": "Einladung", "stores.calendar.month": "Monat", "stores.calendar.previous": "Voriger Monat", "stores.calendar.next": "Nächster Monat", "stores.calendar.count.one": "{n} Termin", "stores.calendar.count.other": "{n} Termine",
    "stores.reminders": "Erinnerungen", "stores.reminders.add": "Neue Erinnerung", "stores.reminders.edit": "Erinnerung", "stores.reminders.none": "Nichts zu tun.", "stores.reminders.hint": "Im Chat: „Erinnere mich morgen an den Anruf bei der Bank“.",
    "stores.reminders.completed": "Erledigte zeigen", "stores.reminders.complete": "{title} erledigen", "stores.reminders.done": "Geändert", "stores.reminders.late": "Überfällig", "stores.reminders.high": "Wichtig",
    "stores.notes": "Notizen", "stores.notes.add": "Neue Notiz", "stores.notes.edit": "Notiz", "stores.notes.none": "Keine Notizen.", "stores.notes.hint": "Im Chat: „Notiere, dass der Ersatzschlüssel bei Anna liegt“.",
    "stores.contacts": "Kontakte", "stores.contacts.add": "Neuer Kontakt", "stores.contacts.edit": "Kontakt", "stores.contacts.none": "Keine Kontakte.", "stores.contacts.hint": "Dateien eines Adressbuchs (vCard) im Datenordner erscheinen hier.",
    "stores.habits": "Gewohnheiten", "stores.habits.add": "Neue Gewohnheit", "stores.habits.edit": "Gewohnheit", "stores.habits.none": "Keine Gewohnheiten.", "stores.habits.hint": "Im Chat: „Ich war heute laufen“.",
};
