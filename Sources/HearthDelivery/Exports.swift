@_exported import HearthCatalog
@_exported import HearthHTTP
@_exported import HearthStore
@_exported import HearthTransfer

@_exported import struct HearthBase.ErrorCode
@_exported import struct HearthBase.ErrorContext
// Re-exports the modules whose types this module's interface uses: apps need only `import HearthDelivery`. Of the base,
// only what that interface names.
@_exported import enum HearthBase.ErrorDisposition
@_exported import protocol HearthBase.ErrorDomain
@_exported import typealias HearthBase.FileError
@_exported import struct HearthBase.HearthError
@_exported import protocol HearthBase.HearthFailure
@_exported import struct HearthBase.Path
@_exported import struct HearthBase.SHA256Digest
@_exported import struct HearthBase.SemanticVersion
