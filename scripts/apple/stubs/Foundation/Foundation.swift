// Apple's Foundation re-exports these modules: developer.apple.com/documentation/foundation
@_exported import Darwin
@_exported import Dispatch
@_exported import Foundation
@_exported import ObjectiveC

// developer.apple.com/documentation/corefoundation/cfdata
public typealias CFData = NSData
// developer.apple.com/documentation/corefoundation/cfdictionary
public typealias CFDictionary = NSDictionary
// developer.apple.com/documentation/corefoundation/cfstring
public typealias CFString = NSString
// developer.apple.com/documentation/corefoundation/cferror
public typealias CFError = NSError
