// Importing Hearth also imports delivery and the engine protocol, whose types Hearth's interface uses.
@_exported import HearthDelivery
@_exported import HearthInference
