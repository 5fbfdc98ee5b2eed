import Foundation

/// What a running server tells the program that started it.
public enum ServerEvent: Sendable {
    /// The server listens at an address; the second one signs a browser in, once.
    case ready(URL, signIn: URL)
    /// The settings were read again.
    case settingsRead
    /// A setting of the disk, or its file, cannot be used; the one before stays.
    case settingsRefused(any Error)
    /// A download of an earlier process was not continued.
    case notContinued(String, any Error)
    /// The server begins to end.
    case ending
}
