// Words of the records.
export default {
    // Records
    "stores.title": "Records", "stores.search": "Search", "stores.saved": "Saved", "stores.deleted": "Deleted", "stores.unreadable.one": "{n} file cannot be read and stays as it is.", "stores.unreadable.other": "{n} files cannot be read and stay as they are.",
    "stores.filter": "What is shown", "stores.collection": "Calendar or list", "stores.collection.all": "All lists", "stores.collection.none": "Without a list", "stores.reminders.show.open": "Open", "stores.reminders.show.today": "Today", "stores.reminders.show.late": "Overdue", "stores.reminders.no-date": "Without a date",
    "stores.import": "Import", "stores.import.hint": "A file of a calendar (.ics) or of an address book (.vcf)", "stores.export": "Export", "stores.import.too-large": "{name} is larger than {size} MiB. Split the file first.", "stores.imported": "{store}: {added} new, {replaced} changed, {known} known already.",
    "stores.all": "All", "stores.all.none": "Nothing comes up, and there are no notes.", "stores.all.hint": "Ask in a chat, or choose a kind above.", "stores.kinds": "Kinds that are shown",
    "stores.calendar": "Calendar", "stores.calendar.add": "New event", "stores.calendar.edit": "Event", "stores.calendar.none": "No events from this day on.", "stores.calendar.hint": "Ask in a chat: “Lunch with Anna on Friday at one”.",
    "stores.calendar.all-day": "All day", "stores.calendar.repeats": "Repeats", "stores.calendar.invitation": "Invitation", "stores.calendar.month": "Month", "stores.calendar.previous": "Previous month", "stores.calendar.next": "Next month", "stores.calendar.count.one": "{n} event", "stores.calendar.count.other": "{n} events",
    "stores.reminders": "Reminders", "stores.reminders.add": "New reminder", "stores.reminders.edit": "Reminder", "stores.reminders.none": "Nothing to do.", "stores.reminders.hint": "Ask in a chat: “Remind me to call the bank tomorrow”.",
    "stores.reminders.completed": "Show completed", "stores.reminders.complete": "Complete {title}", "stores.reminders.done": "Changed", "stores.reminders.late": "Late", "stores.reminders.high": "Important",
    "stores.notes": "Notes", "stores.notes.add": "New note", "stores.notes.edit": "Note", "stores.notes.none": "No notes.", "stores.notes.hint": "Ask in a chat: “Note that the spare key is at Anna’s”.",
    "stores.contacts": "Contacts", "stores.contacts.add": "New contact", "stores.contacts.edit": "Contact", "stores.contacts.none": "No contacts.", "stores.contacts.hint": "Files of an address book (vCard) in the data folder appear here.",
    "stores.habits": "Habits", "stores.habits.add": "New habit", "stores.habits.edit": "Habit", "stores.habits.none": "No habits.", "stores.habits.hint": "Ask in a chat: “I went running today”.",
};
