// developer.apple.com/documentation/contacts/contact-keys
public let CNContactIdentifierKey: String = ""
public let CNContactNamePrefixKey: String = ""
public let CNContactGivenNameKey: String = ""
public let CNContactMiddleNameKey: String = ""
public let CNContactFamilyNameKey: String = ""
public let CNContactNameSuffixKey: String = ""
public let CNContactNicknameKey: String = ""
public let CNContactOrganizationNameKey: String = ""
public let CNContactPhoneNumbersKey: String = ""
public let CNContactEmailAddressesKey: String = ""
public let CNContactUrlAddressesKey: String = ""
public let CNContactBirthdayKey: String = ""
public let CNContactNoteKey: String = ""

// developer.apple.com/documentation/contacts/cnerrordomain
public let CNErrorDomain: String = ""

// developer.apple.com/documentation/contacts/cnerror
public struct CNError: Error, Sendable {
    // developer.apple.com/documentation/contacts/cnerror/code
    public enum Code: Int, Sendable {
        case authorizationDenied = 100
        case noAccessableWritableContainers = 101
        case unauthorizedKeys = 102
        case recordDoesNotExist = 200
        case recordNotWritable = 206
        case parentContainerNotWritable = 207
        case validationMultipleErrors = 300
        case validationTypeMismatch = 301
        case validationConfigurationError = 302
        case policyViolation = 500
    }
}
