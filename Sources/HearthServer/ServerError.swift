#if Server
    import HearthBase

    /// The codes of ``ServerError``.
    public enum ServerErrorDomain: ErrorDomain {
        public static var codes: [ErrorCode<Self>] {
            [
                .portInUse, .permission, .addressUnavailable, .folderMissing, .cannotListen, .bodyTooLarge, .clientLeft,
            ]
        }
    }

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
    }

    extension HearthError where Domain == ServerErrorDomain {
        static func bodyTooLarge(limit: Int) -> Self {
            Self(
                .bodyTooLarge, "the body of the request is larger than \(limit) bytes",
                context: ErrorContext(expected: "at most \(limit) bytes", remedy: "Send less at once."))
        }

        static let clientLeft = Self(.clientLeft, "the client left before the end of its request")
    }
#endif
