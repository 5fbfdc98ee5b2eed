import HearthBase

/// The domain of ``UsageError``.
package enum UsageErrorDomain: ErrorDomain {}

/// An invalid command line; exit status 64.
package typealias UsageError = HearthError<UsageErrorDomain>

extension ErrorCode<UsageErrorDomain> {
    /// The words on the command line do not form a command.
    package static var wrongUsage: Self { "wrong-usage" }
}

extension HearthError where Domain == UsageErrorDomain {
    /// A usage error with a hint of what to type.
    init(_ message: String, hint: String? = nil) {
        self.init(.wrongUsage, message, context: ErrorContext(remedy: hint), disposition: .usage)
    }
}
