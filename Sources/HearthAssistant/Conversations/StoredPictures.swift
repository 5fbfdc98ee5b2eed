import HearthBase
import HearthDatabase
import HearthInference

/// The pictures of messages: each file is kept once, by its digest.
enum StoredPictures {
    /// Makes the pictures of a message what they are meant to be.
    static func save(_ images: [ChatImage], of message: Int, _ connection: Connection) throws {
        let kept = try connection.rows(
            """
            SELECT digest FROM message_picture JOIN picture ON picture.number = message_picture.picture
            WHERE message = ?1 ORDER BY position
            """, [.int(message)]
        ) { $0.text(0) }
        guard kept != images.map(\.digest.hex) else { return }
        try removeAll(of: message, connection)
        for (position, image) in images.enumerated() {
            let digest = SQLValue.text(image.digest.hex)
            let number =
                try connection.first("SELECT number FROM picture WHERE digest = ?1", [digest]) { $0.int(0) }
                ?? insert(image, connection)
            try connection.run(
                "INSERT INTO message_picture(message, position, picture) VALUES(?1, ?2, ?3)",
                [.int(message), .int(position), .int(number)])
        }
        try connection.run(
            "UPDATE message SET pictures = ?2 WHERE number = ?1", [.int(message), .int(images.count)])
    }

    private static func insert(_ image: ChatImage, _ connection: Connection) throws -> Int {
        try connection.run(
            "INSERT INTO picture(digest, bytes) VALUES(?1, ?2)", [.text(image.digest.hex), .blob(.init(image.bytes))])
        return connection.lastRow
    }

    /// The pictures of a message. One that cannot be read is left out.
    static func pictures(of message: Int, _ connection: Connection) throws -> [ChatImage] {
        try connection.rows(
            """
            SELECT bytes FROM message_picture JOIN picture ON picture.number = message_picture.picture
            WHERE message = ?1 ORDER BY position
            """, [.int(message)]
            // A damaged picture must not hide the conversation.
        ) { try? ChatImage([UInt8]($0.blob(0))) }.compactMap { $0 }
    }

    /// Removes the pictures of a message, and their files that no other message shows.
    static func removeAll(of message: Int, _ connection: Connection) throws {
        let numbers = try connection.rows(
            "SELECT picture FROM message_picture WHERE message = ?1", [.int(message)]
        ) { $0.int(0) }
        guard !numbers.isEmpty else { return }
        try connection.run("DELETE FROM message_picture WHERE message = ?1", [.int(message)])
        for number in Set(numbers) {
            try connection.run(
                "DELETE FROM picture WHERE number = ?1 AND NOT EXISTS(SELECT 1 FROM message_picture WHERE picture = ?1)",
                [.int(number)])
        }
    }
}
