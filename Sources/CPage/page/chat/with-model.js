// Calls that need a model: if several are here and none is chosen, the person chooses.
import { withWords } from "../kit/texts.js";

/// Loads the question which model answers.
export const loadChoice = () => withWords(import("./choice.js"), "forms");

/// Runs a call. If the server asks which model answers, the person chooses one for the conversation, and the call is
/// repeated.
export const withModel = (place, settings, call, question) => call().catch(async (error) => {
    if (error.code !== "model-not-chosen") throw error;
    const { callWithChoice } = await loadChoice();
    return callWithChoice(error, place, settings, call, question);
});
