// Apple's Foundation re-exports these modules: developer.apple.com/documentation/foundation
@_exported import Darwin
@_exported import Dispatch
@_exported import Foundation
@_exported import ObjectiveC
