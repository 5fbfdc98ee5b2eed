import Foundation

extension URL {
    // developer.apple.com/documentation/foundation/nsurl/startaccessingsecurityscopedresource()
    public func startAccessingSecurityScopedResource() -> Bool {}
    // developer.apple.com/documentation/foundation/nsurl/stopaccessingsecurityscopedresource()
    public func stopAccessingSecurityScopedResource() {}
}
