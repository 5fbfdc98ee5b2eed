// Words of questions and answers, which are loaded with the first of them.
export default {
    // Chat
    "chat.you": "You", "chat.assistant": "Answer", "chat.gone": "This conversation is deleted.",
    "chat.delete-from": "Delete from here",
    "chat.edit": "Edit question", "chat.edit.hint": "The new question becomes a branch; the old one stays.", "chat.edit.send": "Send", "chat.answer": "Answer", "chat.regenerate": "Answer again",
    "chat.branches": "Alternatives", "chat.branch": "{index}/{count}", "chat.branch.previous": "Previous alternative", "chat.branch.next": "Next alternative",
    "chat.thinking": "Thinking…", "chat.thoughts": "Thoughts", "chat.answer-now": "Answer now",
    "chat.picture": "Picture {number}", "chat.image": "Image: {name}", "chat.code": "Code.", "chat.code.plain": "Text", "chat.table": "Table", "chat.formula": "Formula", "chat.sources": "Sources",
    "chat.gone.elsewhere": "This conversation was deleted elsewhere. What is shown here is not kept.", "chat.gone.private": "This private conversation has ended with the server. What is shown here is not kept.", "chat.continue-locally": "Continue on this device",
    "ending.continue": "Continue", "ending.choose-model": "Choose a model", "ending.free-memory": "Free memory", "ending.open-settings": "Open settings",
    "ending.stopped": "You stopped this answer.", "ending.length": "The answer reached its longest length.", "ending.context-full": "The context window is full.", "ending.timeout": "The time for the answer was over.", "ending.timed-out": "The time for the answer was over.",
    "ending.interrupted": "The connection to the cloud was cut.", "ending.unfinished": "The answer broke off when the server ended.", "ending.server-ended": "The answer broke off when the server ended.", "ending.repeating": "The answer began to repeat itself.", "ending.content-filter": "The cloud withheld the rest of this answer.",
    "ending.not-installed": "The model is not on this device.", "ending.model-not-loaded": "No model of this device is chosen.", "ending.model-not-found": "The model is not on this device.", "ending.not-enough-memory": "The model needs more memory than is free.", "ending.cannot-load-model": "The model could not be loaded.", "ending.engine-died": "The model ended unexpectedly.",
    "ending.context-window-exceeded": "The question is longer than the context window of the model.", "ending.unreachable": "The cloud cannot be reached.", "ending.unauthorised": "The cloud refused the key.", "ending.no-credits": "No credits are left this month.", "ending.not-entitled": "The tier has no cloud.", "ending.rate-limited": "The cloud takes no more questions for now.", "ending.remote-model-missing": "The cloud does not have this model.", "ending.cloud-key-unusable": "The key of the cloud cannot be used.", "ending.cloud-off": "The cloud is switched off.", "ending.cloud-missing": "No cloud is set up.",
    "phase.chat.waiting": "Waiting", "phase.chat.load": "Loading the model", "phase.chat.connect": "Connecting", "phase.chat.prefill": "Reading {done} of {total} tokens", "phase.chat.decode": "Writing",
    "facts.rate": "{rate} tokens/s", "facts.first": "first token after {seconds} s", "facts.tokens.one": "{n} token", "facts.tokens.other": "{n} tokens",
    "finish.length": "length limit reached", "finish.interrupted": "stopped", "finish.content-filter": "withheld by the cloud", "finish.context-full": "context full", "finish.timeout": "time limit reached", "finish.repeating": "repeated itself",
    "route.imported": "Imported",
    "speech.read": "Read aloud", "speech.stop": "Stop reading",
};
