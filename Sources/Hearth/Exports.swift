// Importing Hearth also imports delivery, the engine protocol and routing, whose types Hearth's interface uses.
@_exported import HearthDelivery
@_exported import HearthInference
@_exported import HearthRouting
