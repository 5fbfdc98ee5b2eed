import Foundation

/// A service outside the process that brings pieces of files, also while the process does not run.
///
/// It reports each event in the order in which it happened, and moves a file that has come before it reports it.
package protocol OutsideSession: Sendable {
    /// Begins a task for an order.
    /// - Parameters:
    ///   - headers: further fields of the request, such as a token.
    ///   - resumeData: continues an earlier task; data of another address are not used.
    func begin(_ order: PieceOrder, headers: [String: String], resumeData: Data?)
    /// Ends the task of an order, and removes what it has.
    func cancel(_ order: PieceOrder)
    /// Reports ``PieceReport/tasks(_:)``, after everything that happened before.
    func list()
}
