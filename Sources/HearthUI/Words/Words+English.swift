// Written by scripts/apple/words.py from the texts of the page.

extension Words {
    /// The words in English.
    static let english: [String: String] = [
        "action.append-note":
            "Add to a note",
        "action.change-event":
            "Change an event",
        "action.change-habit":
            "Change a habit",
        "action.complete-reminder":
            "Complete a reminder",
        "action.delete-event":
            "Delete an event",
        "action.events":
            "Events",
        "action.habits":
            "Habits",
        "action.log-habit":
            "Log a habit",
        "action.new-event":
            "New event",
        "action.new-habit":
            "New habit",
        "action.new-note":
            "New note",
        "action.new-reminder":
            "New reminder",
        "action.reminders":
            "Open reminders",
        "action.search-contacts":
            "Search contacts",
        "action.search-notes":
            "Search notes",
        "action.web-search":
            "Web search",
        "alarm.days.one":
            "{n} day before",
        "alarm.days.other":
            "{n} days before",
        "alarm.hours.one":
            "{n} hour before",
        "alarm.hours.other":
            "{n} hours before",
        "alarm.minutes.one":
            "{n} minute before",
        "alarm.minutes.other":
            "{n} minutes before",
        "alarm.now":
            "at that time",
        "ask.metered.text":
            "{name} is {size}. This network is metered. Fetch {size} now?",
        "ask.metered.title":
            "Download on a metered network?",
        "ask.metered.yes":
            "Download now",
        "ask.unverified.text":
            "The publisher of {name} gives no digest, so Hearth cannot tell whether the file is the promised one.",
        "ask.unverified.title":
            "Download without verification?",
        "ask.unverified.yes":
            "Download unverified",
        "badge.active":
            "Active",
        "badge.bundled":
            "Included",
        "badge.code":
            "Code",
        "badge.embeddings":
            "Vectors",
        "badge.mlx.title":
            "Needs MLX, which runs on Apple devices only",
        "badge.recommended":
            "Recommended",
        "badge.tools":
            "Tools",
        "badge.tools.title":
            "Calls tools well, as its maker says",
        "badge.unverified":
            "Unverified",
        "badge.vision":
            "Vision",
        "banner.none":
            "No model can answer here yet.",
        "cancel":
            "Cancel",
        "card.action":
            "Action",
        "card.approve":
            "Approve",
        "card.approve-always":
            "Always approve",
        "card.approve-chat":
            "Approve in this conversation",
        "card.chosen":
            "{name}, in use",
        "card.decline":
            "Decline",
        "card.download":
            "Download {name}{size}",
        "card.field.alarmMinutes":
            "Alarm",
        "card.field.amount":
            "Amount",
        "card.field.append-note.title":
            "Note",
        "card.field.body":
            "Text",
        "card.field.change-event.id":
            "Event",
        "card.field.change-event.title":
            "New title",
        "card.field.date":
            "Day",
        "card.field.delete-event.title":
            "Event",
        "card.field.due":
            "Due",
        "card.field.end":
            "Ends",
        "card.field.frequency":
            "How often",
        "card.field.from":
            "From",
        "card.field.location":
            "Place",
        "card.field.name":
            "Habit",
        "card.field.notes":
            "Notes",
        "card.field.priority":
            "Priority",
        "card.field.query":
            "Query",
        "card.field.recurrence":
            "Repeats",
        "card.field.start":
            "Begins",
        "card.field.title":
            "Title",
        "card.field.to":
            "To",
        "card.more-decisions":
            "More choices",
        "card.origin.title":
            "Where this value comes from",
        "card.perform":
            "Do it now",
        "card.retry":
            "Try again: download {name} again",
        "card.select":
            "Use {name}",
        "card.state.declined":
            "Declined",
        "card.state.done":
            "Done",
        "card.state.failed":
            "Failed",
        "card.state.not-carried-out":
            "Not carried out",
        "card.state.proposed":
            "Proposed",
        "card.state.undone":
            "Undone",
        "card.state.unknown":
            "Unknown",
        "card.state.waiting":
            "Waiting for you",
        "card.update":
            "Update to {version} ({size})",
        "card.update.plain":
            "Update to {version}",
        "chat.assistant":
            "Answer",
        "chat.continue-locally":
            "Continue on this device",
        "chat.picture":
            "Picture {number}",
        "chat.thinking":
            "Thinking…",
        "chat.thoughts":
            "Thoughts",
        "chat.untitled":
            "New conversation",
        "chat.you":
            "You",
        "close":
            "Close",
        "composer.label":
            "Question",
        "composer.send":
            "Send",
        "composer.stop":
            "Stop",
        "download.bytes":
            "{done} of {total}",
        "download.cancel":
            "Cancel download",
        "download.discard":
            "Discard",
        "download.left":
            "{time} left",
        "download.model":
            "Download Model",
        "ending.cannot-load-model":
            "The model could not be loaded.",
        "ending.choose-model":
            "Choose a model",
        "ending.cloud-key-unusable":
            "The key of the cloud cannot be used.",
        "ending.cloud-missing":
            "No cloud is set up.",
        "ending.cloud-off":
            "The cloud is switched off.",
        "ending.content-filter":
            "The cloud withheld the rest of this answer.",
        "ending.context-full":
            "The context window is full.",
        "ending.context-window-exceeded":
            "The question is longer than the context window of the model.",
        "ending.continue":
            "Continue",
        "ending.engine-died":
            "The model ended unexpectedly.",
        "ending.free-memory":
            "Free memory",
        "ending.interrupted":
            "The connection to the cloud was cut.",
        "ending.length":
            "The answer reached its longest length.",
        "ending.model-not-found":
            "The model is not on this device.",
        "ending.model-not-loaded":
            "No model of this device is chosen.",
        "ending.no-credits":
            "No credits are left this month.",
        "ending.not-enough-memory":
            "The model needs more memory than is free.",
        "ending.not-entitled":
            "The tier has no cloud.",
        "ending.not-installed":
            "The model is not on this device.",
        "ending.open-settings":
            "Open settings",
        "ending.rate-limited":
            "The cloud takes no more questions for now.",
        "ending.remote-model-missing":
            "The cloud does not have this model.",
        "ending.repeating":
            "The answer began to repeat itself.",
        "ending.server-ended":
            "The answer broke off when the server ended.",
        "ending.stopped":
            "You stopped this answer.",
        "ending.timed-out":
            "The time for the answer was over.",
        "ending.timeout":
            "The time for the answer was over.",
        "ending.unauthorised":
            "The cloud refused the key.",
        "ending.unfinished":
            "The answer broke off when the server ended.",
        "ending.unreachable":
            "The cloud cannot be reached.",
        "habit.daily":
            "Daily",
        "habit.days":
            "Last days of {name}",
        "habit.logged":
            "{name} is logged",
        "habit.streak.daily.one":
            "{n} day in a row",
        "habit.streak.daily.other":
            "{n} days in a row",
        "habit.streak.weekly.one":
            "{n} week in a row",
        "habit.streak.weekly.other":
            "{n} weeks in a row",
        "habit.unlogged":
            "{name} is no longer logged",
        "habit.weekly":
            "Weekly",
        "manage.remove":
            "Remove",
        "manage.remove.text":
            "Frees {size}. You can download it again.",
        "manage.remove.title":
            "Remove {name}?",
        "manage.remove.yes":
            "Remove",
        "manage.rollback":
            "Roll back to {version}",
        "manage.rollback.text":
            "{to} becomes active again. {from} is held back until you choose it.",
        "manage.rollback.title":
            "Roll back {name}?",
        "manage.rollback.yes":
            "Roll back",
        "models.none":
            "No models yet. Add a repository of the Hub or the address of a file.",
        "models.reading":
            "Reading the list of models…",
        "models.section":
            "AI Model",
        "nav.settings":
            "Settings",
        "phase.again":
            "Downloading again",
        "phase.chat.connect":
            "Connecting",
        "phase.chat.decode":
            "Writing",
        "phase.chat.load":
            "Loading the model",
        "phase.chat.prefill":
            "Reading {done} of {total} tokens",
        "phase.chat.waiting":
            "Waiting",
        "phase.connecting":
            "Connecting",
        "phase.downloading":
            "Downloading",
        "phase.extracting":
            "Extracting",
        "phase.hold.metered":
            "Wi-Fi required",
        "phase.hold.offline":
            "No network",
        "phase.installing":
            "Installing",
        "phase.paused":
            "Paused",
        "phase.preparing":
            "Preparing",
        "phase.probing":
            "Testing",
        "phase.queued":
            "Queued",
        "phase.retrying":
            "Retrying, attempt {attempt} of {attempts}",
        "phase.verifying":
            "Verifying",
        "phase.waiting":
            "Waiting",
        "phase.waiting-for":
            "Waiting: {reason}",
        "priority.high":
            "High",
        "priority.low":
            "Low",
        "priority.medium":
            "Medium",
        "priority.none":
            "None",
        "remark.already-logged":
            "{value} is already logged on that day; the amounts add up.",
        "remark.cannot-be-undone":
            "This cannot be undone.",
        "remark.ignored":
            "Ignored: {value}.",
        "remark.more":
            "There are more.",
        "remark.no-contacts":
            "No contact fits.",
        "remark.no-events":
            "No event lies in that time.",
        "remark.no-habits":
            "No habit is defined.",
        "remark.no-notes":
            "No note fits.",
        "remark.no-reminders":
            "No reminder is open.",
        "remark.no-search":
            "No web search is set up.",
        "remark.no-such-action":
            "There is no such action.",
        "remark.not-offered":
            "The settings offer no such action in this conversation.",
        "remark.outside":
            "Text from outside may have led to this: {value}.",
        "remark.own-data":
            "Your data is in this conversation. These words leave the device.",
        "remark.past":
            "The time is in the past.",
        "remark.private-search":
            "A private conversation makes no web search.",
        "remark.rings":
            "It rings on this device.",
        "remark.rings-elsewhere":
            "It rings in a program that shows due reminders; this one does not.",
        "remark.same-time":
            "At the same time: {events}.",
        "remark.same-time.more":
            "At the same time: {events} and {more} more.",
        "remark.series-changed":
            "The event repeats; all of its occurrences are changed.",
        "remark.series-deleted":
            "The event repeats; all of its occurrences are deleted.",
        "remark.switched-off":
            "The settings switch this kind of action off.",
        "repeat.DAILY":
            "Daily",
        "repeat.MONTHLY":
            "Monthly",
        "repeat.WEEKDAYS":
            "On weekdays",
        "repeat.WEEKLY":
            "Weekly",
        "repeat.YEARLY":
            "Yearly",
        "repeat.count":
            "Number of times",
        "repeat.days":
            "On these days",
        "repeat.every.day":
            "Every {count} days",
        "repeat.every.month":
            "Every {count} months",
        "repeat.every.week":
            "Every {count} weeks",
        "repeat.every.year":
            "Every {count} years",
        "repeat.interval":
            "Every",
        "repeat.last-day":
            "Last day",
        "repeat.never":
            "Never",
        "repeat.on":
            "on {days}",
        "repeat.ordinal":
            "On the {ordinal} {day} of each month",
        "repeat.ordinal.-1":
            "last",
        "repeat.ordinal.-2":
            "last but one",
        "repeat.ordinal.1":
            "first",
        "repeat.ordinal.2":
            "second",
        "repeat.ordinal.3":
            "third",
        "repeat.ordinal.4":
            "fourth",
        "repeat.ordinal.5":
            "fifth",
        "repeat.times.one":
            "{n} time",
        "repeat.times.other":
            "{n} times",
        "repeat.unit.day.one":
            "day",
        "repeat.unit.day.other":
            "days",
        "repeat.unit.month.one":
            "month",
        "repeat.unit.month.other":
            "months",
        "repeat.unit.week.one":
            "week",
        "repeat.unit.week.other":
            "weeks",
        "repeat.unit.year.one":
            "year",
        "repeat.unit.year.other":
            "years",
        "repeat.until-day":
            "until {day}",
        "retry":
            "Try again",
        "route.allow-cloud":
            "Click to allow the cloud.",
        "route.cloud":
            "Cloud",
        "route.credits":
            "{left} of {of}",
        "route.force-local":
            "Click to answer on this device only.",
        "route.imported":
            "Imported",
        "route.local":
            "On this device",
        "state.bundled":
            "Came with the program",
        "state.deleting":
            "Being deleted",
        "state.downloaded":
            "Downloaded",
        "state.not-downloaded":
            "Not downloaded",
        "state.update":
            "Update to {version} available",
        "time.hours.one":
            "{n} hour",
        "time.hours.other":
            "{n} hours",
        "time.minutes.one":
            "{n} minute",
        "time.minutes.other":
            "{n} minutes",
        "time.seconds.one":
            "{n} second",
        "time.seconds.other":
            "{n} seconds",
        "undo":
            "Undo",
    ]
}
