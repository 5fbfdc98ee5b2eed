import Foundation
import HearthBase

/// Calls `body` with a list of C strings that ends with `NULL`.
func withStrings<Result>(
    _ strings: [String], _ body: (UnsafeBufferPointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    let copies: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) } + [nil]
    defer { for copy in copies { free(copy) } }
    return copies.withUnsafeBufferPointer(body)
}
