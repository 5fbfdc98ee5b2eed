/// A command whose work the resident process takes over, so that it goes on without its terminal.
protocol HandedOver: Command {
    /// Whether this call's work can be done there: not for files that a path names.
    var canBeHandedOver: Bool { get }
}
