// The texts of the page in English that every screen needs. `{name}` is a value; `key.one` and `key.other` are chosen by the value `n`.
export default {
    // Words of all screens
    "nav.chat": "Chat", "nav.models": "Models", "nav.read": "Read", "nav.stores": "Records", "nav.settings": "Settings", "nav.skip": "Skip to content",
    "cancel": "Cancel", "close": "Close", "copied": "Copied", "copy": "Copy", "copy.refused": "The browser did not let the page copy.", "delete": "Delete", "more": "More", "retry": "Try again",
    "save": "Save", "saved": "Saved", "undo": "Undo", "undone": "Undone",
    "connection.lost": "Connection lost. Trying again…",
    "sign-in": "Sign in",
    "signed-out": "This browser is signed out. Run hearth serve --detach and open the address that it prints.",
    "error.unreachable": "Hearth does not answer.", "error.unreachable.remedy": "Check that hearth serve is running.",
    "error.unknown": "The server answered with status {status}.", "error.page": "That did not work: {reason}",
    "news": "News",

    // First run
    "welcome.title": "AI models on your own device", "welcome.reading": "Reading the list of models",
    "welcome.ask": "What can I do for you?",
    "suggest.plan": "Plan a quiet weekend with two hikes", "suggest.explain": "Explain how a language model reads a sentence",
    "suggest.note": "Note that the spare key is at Anna’s", "suggest.write": "Write a friendly reminder to return a book",

    // Models
    "download.model": "Download Model",

    // Chat
    "chats.title": "Conversations", "chats.search": "Search", "chats.none": "No conversations yet", "chats.no-hit": "Nothing found",
    "chats.none-here": "No conversations here", "chats.filter": "Which conversations", "chats.all": "All conversations", "chats.folder": "{name} ({count})", "chats.archived": "Archived ({count})", "chats.archived.mark": "Archived",
    "chats.pinned": "Pinned", "chats.week": "Previous 7 days", "chats.month": "Previous 30 days", "chats.menu": "Manage “{title}”", "chats.pin": "Pin", "chats.unpin": "Unpin", "chats.archive": "Archive", "chats.unarchive": "Unarchive",
    "chats.move": "Move to folder…",
    "chats.hits.one": "{n} message", "chats.hits.other": "{n} messages", "chats.from": "From", "chats.until": "To",
    "chat.new": "New conversation", "chat.untitled": "New conversation", "chat.private": "Private", "chat.log": "Conversation",
    "chat.model": "Model for text", "chat.context": "Context: {used} of {length} tokens", "chat.commands": "Commands of the conversation",
    "chat.rename": "Rename", "chat.export.markdown": "Export as Markdown", "chat.export.json": "Export as JSON",
    "chat.delete": "Delete conversation",
    "chat.answering": "Answering", "chat.jump": "To the newest message",
    "chat.settings": "Settings of this conversation", "chat-settings.default": "Default: {value}",
    "chat-settings.model.none": "Choose a model", "chat-settings.model.gone": "{name} (not on this device)",
    "route.local": "On this device", "route.cloud": "Cloud", "route.credits": "{left} of {of}", "route.force-local": "Click to answer on this device only.", "route.allow-cloud": "Click to allow the cloud.",
    "reason.force-local": "Only this device was chosen.", "reason.imported": "This answer was imported.", "reason.private": "The conversation is private.", "reason.local-preferred": "An answer of this device was asked for.", "reason.model-named": "A model of this device was named.", "reason.upstream": "A model of another server was named.",
    "reason.cloud-missing": "No cloud is set up.", "reason.tier": "The tier has no cloud.", "reason.no-credits": "No credits are left this month.", "reason.offline": "The device is offline.", "reason.settling": "The connection is new; the cloud follows soon.",
    "reason.checking": "The cloud is being checked.", "reason.unhealthy": "The last check of the cloud failed.", "reason.failing": "The cloud failed repeatedly.", "reason.paused": "The cloud pauses.", "reason.cloud": "The cloud is allowed and reachable.", "reason.took-over": "This device took over from the cloud.",
    "composer.label": "Question", "composer.placeholder": "Ask something, or / for commands", "composer.early": "Ask something. It is answered when a model is ready.", "composer.hint": "Models make mistakes. Enter sends, Shift+Enter begins a line.",
    "composer.send": "Send", "composer.stop": "Stop", "composer.picture": "Add picture", "composer.pictures": "Pictures", "composer.picture.remove": "Remove {name}", "composer.no-picture": "{name} is no picture.",
    "composer.file": "Attach a file", "composer.pasted": "Pasted text.txt",
    "composer.camera": "Take picture", "composer.think": "Think", "composer.think.hint": "Let the model think before it answers", "composer.waiting": "Sent when the model is ready.",
};
