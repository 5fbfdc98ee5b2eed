import HearthBase

/// The domain of ``ServerError``.
public enum ServerErrorDomain: ErrorDomain {}

/// A server that could not be started.
public typealias ServerError = HearthError<ServerErrorDomain>

extension ErrorCode<ServerErrorDomain> {
    /// Another program listens on the port.
    public static var portInUse: Self { "port-in-use" }
    /// The user may not listen on the port, or not read the folder.
    public static var permission: Self { "permission" }
    /// The address is not one of this machine's.
    public static var addressUnavailable: Self { "address-unavailable" }
    /// The folder to be served does not exist or is not a folder.
    public static var folderMissing: Self { "folder-missing" }
    /// The system or the HTTP library refused for another reason.
    public static var cannotListen: Self { "cannot-listen" }
    /// The body of a request is larger than the route allows.
    public static var bodyTooLarge: Self { "body-too-large" }
    /// The client closed its connection before the end of its request.
    public static var clientLeft: Self { "client-left" }
    /// The home has as many keys as are permitted.
    public static var tooManyKeys: Self { "too-many-keys" }
    /// A key has that name already.
    package static var keyExists: Self { "key-exists" }
    /// No key has that id.
    public static var unknownKey: Self { "unknown-key" }
    /// The file of the keys is damaged.
    public static var keysUnreadable: Self { "keys-unreadable" }
    /// An address that other machines reach needs a key, and TLS or the user's consent to do without.
    public static var keyRequired: Self { "key-required" }
    /// Another process serves this home.
    public static var alreadyServing: Self { "already-serving" }
    /// No process serves this home.
    public static var notServing: Self { "not-serving" }
    /// The process that serves this home does not answer.
    public static var noAnswer: Self { "no-answer" }
    /// The unix socket, its folder or the process behind it belongs to another user.
    public static var foreignSocket: Self { "foreign-socket" }
    /// The build has no HTTP server: it lacks the trait `Server`.
    public static var serverUnavailable: Self { "server-unavailable" }
}

extension HearthError where Domain == ServerErrorDomain {
    static func bodyTooLarge(limit: Int) -> Self {
        Self(
            .bodyTooLarge, "the body of the request is larger than \(limit) bytes",
            context: ErrorContext(expected: "at most \(limit) bytes", remedy: "Send less at once."))
    }

    static let clientLeft = Self(.clientLeft, "the client left before the end of its request")
}

/// The codes of what is refused while something else is going on: status 409.
enum ConflictCodes {
    static let all: Set<String> = [
        "changed-elsewhere", "download-in-progress", "home-busy", "key-exists", "release-in-use", "settings-busy",
        "transfer-busy",
    ]
}
