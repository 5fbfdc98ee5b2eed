/// The block `WEB_SEARCH`. The chat runs the search itself, in a pass of its own.
package struct WebSearchAction: AssistantAction {
    /// Where queries go.
    package enum Reach: Sendable, Hashable {
        case remote
        /// To the user's own texts.
        case onThisDevice
    }

    package let tag = ActionTag.webSearch
    package let purpose = "Searches the web for what you do not know or what may have changed."
    var reach = Reach.remote

    static let shape = PayloadSchema(
        fields: [.text("query", atMost: 120, about: "the words to search for")],
        forms: [.init(nil, required: ["query"])])

    package var schema: String { Self.shape.block }
    package var toolSchema: String { Self.shape.tool }

    package func plan(_ payload: QueryPayload, in context: ActionContext) async throws -> ActionPlan {
        ActionPlan(
            title: "Web search", code: "web-search",
            fields: [.init(name: "query", label: "Query", value: payload.query)],
            effect: reach == .remote ? .sends : .reads)
    }
}
