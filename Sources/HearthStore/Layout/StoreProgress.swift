/// Receives the bytes done of a verification or extraction and their total; `nil` if the total is unknown.
///
/// Called for each piece of at most 1 MiB, on any thread.
package typealias StoreProgress = @Sendable (_ completed: UInt64, _ total: UInt64?) -> Void
