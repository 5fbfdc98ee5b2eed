#if Server
    import HearthBase

    /// The codes of ``ServerError``.
    public enum ServerErrorDomain: ErrorDomain {
        public static var codes: [ErrorCode<Self>] {
            [.portInUse, .permission, .addressUnavailable, .folderMissing, .cannotListen]
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
    }
#endif
