import Foundation
import HearthAssistant
import HearthBase

extension ChatDesk {
    /// A page of the list; the first one has the private conversations and the folders too.
    func chats(_ query: ConversationQuery, event: String = "") async throws -> ChatsBody {
        let page = try await assistant.conversations.page(query)
        var body = ChatsBody(
            chats: page.conversations.map { ChatBody($0, isAnswering: running($0.id) != nil) }, next: page.next,
            event: event)
        guard query.before == nil else { return body }
        let folders = try await assistant.conversations.folders()
        body.folders = folders.folders.map { FolderBody(name: $0.name, count: $0.count) }
        body.archivedCount = folders.archivedCount
        // Conversations that are not kept stand in the list while they are open.
        for session in privateSessions {
            let chat = await self.body(session)
            guard query.archived != !chat.archived, query.folder == nil || query.folder == chat.folder,
                query.pinned == nil || query.pinned == chat.pinned
            else { continue }
            body.chats.insert(chat, at: 0)
        }
        return body
    }

    /// Conversations after a number of them, in the order of their last change.
    func chats(limit: Int, offset: Int, event: String) async throws -> ChatsBody {
        let kept = try await assistant.conversations.conversations(limit: limit, offset: offset)
        return ChatsBody(chats: kept.map { ChatBody($0, isAnswering: running($0.id) != nil) }, event: event)
    }

    func search(_ search: ConversationSearch) async throws -> HitsBody {
        let found = try await assistant.conversations.find(search)
        let hits = found.finds.map {
            HitBody(
                chat: ChatBody($0.conversation, isAnswering: running($0.conversation.id) != nil),
                message: $0.messageID, excerpt: $0.excerpt, date: $0.date, count: $0.count)
        }
        return HitsBody(hits: hits, next: found.next)
    }

    /// Changes the title and the settings of a conversation, and where it stands in lists: all or none.
    func change(_ id: String, _ order: ChatOrder) async throws -> ChatBody {
        let title = try order.title.map { try Self.title($0) }
        let folder = try order.folder.map { try ConversationPlace.folder($0) }
        let isPlaced = order.pinned != nil || order.archived != nil || order.folder != nil
        // A long conversation is not read for a change of its place.
        if title == nil, order.settings == nil, isPlaced, session(id) == nil {
            guard var summary = try await assistant.conversations.conversation(id) else { throw Self.missing }
            Self.apply(order, folder, to: &summary)
            try await assistant.conversations.arrange(id, summary.place)
            // Another request may have opened it meanwhile.
            if let session = session(id) { await session.arrange(summary.place) }
            let body = ChatBody(summary)
            log.add("chat", OneChatBody(chat: body))
            return body
        }
        let session = try await openChat(id).session
        if let settings = order.settings { try await configure(id, settings) }
        guard title != nil || isPlaced else { return await body(session) }
        if let title { await session.rename(title) }
        if isPlaced {
            var summary = await session.summary
            Self.apply(order, folder, to: &summary)
            await session.arrange(summary.place)
        }
        return await tell(id, session)
    }

    private static func apply(_ order: ChatOrder, _ folder: String??, to summary: inout ConversationSummary) {
        summary.pinned = order.pinned ?? summary.pinned
        summary.archived = order.archived ?? summary.archived
        if let folder { summary.folder = folder }
    }
}
