import HearthBase

/// The domain of ``ConnectError``.
package enum ConnectErrorDomain: ErrorDomain {}

/// An app that could not be connected or started.
package typealias ConnectError = HearthError<ConnectErrorDomain>

extension ErrorCode<ConnectErrorDomain> {
    /// The app's configuration is damaged, so that the app cannot read it either.
    package static var broken: Self { "app-file-broken" }
    /// A change of the app's configuration might harm it.
    package static var unsafe: Self { "app-file-unsafe" }
    /// The app's configuration may not be changed.
    package static var readOnly: Self { "app-file-read-only" }
    /// The record of what an app's configuration was is damaged.
    package static var recordDamaged: Self { "app-record-damaged" }
    /// The program of the app is not on this machine.
    package static var programMissing: Self { "app-program-missing" }
    /// The app takes no address from its environment.
    package static var notStartable: Self { "app-not-startable" }
    /// No model can be chosen for the app.
    package static var modelNeeded: Self { "app-model-needed" }
}

extension HearthError where Domain == ConnectErrorDomain {
    static func refused(_ error: ConfigurationTextError, file: Path) -> Self {
        let place = error.line.map { "line \($0): " } ?? ""
        let context = ErrorContext(
            file: file.string, found: error.line.map { "line \($0)" },
            remedy: error.kind == .broken
                ? "Repair the file first." : "Enter the values by hand where the app has its settings.")
        return error.kind == .broken
            ? Self(.broken, "\(file) cannot be read: \(place)\(error.problem)", context: context)
            : Self(.unsafe, "\(file) was left as it is: \(place)\(error.problem)", context: context)
    }

    static func readOnly(_ file: Path, underlying: (any Error)? = nil) -> Self {
        Self(
            .readOnly, "\(file) may not be changed",
            context: ErrorContext(
                file: file.string,
                remedy: "Change its access rights, or enter the values by hand where the app has its settings."),
            underlying: underlying)
    }
}
