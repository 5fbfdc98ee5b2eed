// Re-exports the modules whose types this module's interface uses: apps need only `import HearthDelivery`.
@_exported import HearthBase
@_exported import HearthCatalog
@_exported import HearthHTTP
@_exported import HearthStore
@_exported import HearthTransfer
