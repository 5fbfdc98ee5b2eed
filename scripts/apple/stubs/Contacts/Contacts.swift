import AppleFoundation
import Foundation

// developer.apple.com/documentation/contacts/cnentitytype
public enum CNEntityType: Int, Sendable { case contacts = 0 }

// developer.apple.com/documentation/contacts/cnauthorizationstatus
public enum CNAuthorizationStatus: Int, Sendable {
    case notDetermined = 0
    case restricted = 1
    case denied = 2
    case authorized = 3
    // developer.apple.com/documentation/contacts/cnauthorizationstatus/limited
    @available(iOS 18.0, *) @available(macOS, unavailable)
    case limited = 4
}

// developer.apple.com/documentation/contacts/cnkeydescriptor
public protocol CNKeyDescriptor: NSObjectProtocol {}
extension NSString: CNKeyDescriptor {}

// developer.apple.com/documentation/contacts/cncontactstore
open class CNContactStore: NSObject {
    open class func authorizationStatus(for entityType: CNEntityType) -> CNAuthorizationStatus {}
    public override init() {}
    // developer.apple.com/documentation/contacts/cncontactstore/requestaccess(for:completionhandler:)
    open func requestAccess(
        for entityType: CNEntityType, completionHandler: @escaping @Sendable (Bool, (any Error)?) -> Void) {}
    // developer.apple.com/documentation/contacts/cncontactstore/unifiedcontact(withidentifier:keystofetch:)
    open func unifiedContact(
        withIdentifier identifier: String, keysToFetch keys: [any CNKeyDescriptor]
    ) throws -> CNContact {}
    // developer.apple.com/documentation/contacts/cncontactstore/enumeratecontacts(with:usingblock:)
    open func enumerateContacts(
        with fetchRequest: CNContactFetchRequest, usingBlock block: (CNContact, UnsafeMutablePointer<ObjCBool>) -> Void
    ) throws {}
    open func execute(_ saveRequest: CNSaveRequest) throws {}
}

// developer.apple.com/documentation/contacts/cncontactfetchrequest
open class CNContactFetchRequest: NSObject {
    public init(keysToFetch: [any CNKeyDescriptor]) {}
}

// developer.apple.com/documentation/contacts/cnsaverequest
open class CNSaveRequest: NSObject {
    public override init() {}
    // developer.apple.com/documentation/contacts/cnsaverequest/add(_:tocontainerwithidentifier:)
    open func add(_ contact: CNMutableContact, toContainerWithIdentifier identifier: String?) {}
    open func update(_ contact: CNMutableContact) {}
    open func delete(_ contact: CNMutableContact) {}
}

// developer.apple.com/documentation/contacts/cnlabeledvalue
open class CNLabeledValue<ValueType>: NSObject where ValueType: NSCopying, ValueType: NSSecureCoding {
    public init(label: String?, value: ValueType) {}
    open var label: String? { get {} }
    open var value: ValueType { get {} }
}

// developer.apple.com/documentation/contacts/cnphonenumber
open class CNPhoneNumber: NSObject, NSCopying, NSSecureCoding {
    public init(stringValue string: String) {}
    open var stringValue: String { get {} }
    public func copy(with zone: NSZone?) -> Any {}
    public static var supportsSecureCoding: Bool { get {} }
    public func encode(with coder: NSCoder) {}
    public required init?(coder: NSCoder) {}
}

// developer.apple.com/documentation/contacts/cncontact
open class CNContact: NSObject {
    init(stub: Void) {}
    open var identifier: String { get {} }
    open var namePrefix: String { get {} }
    open var givenName: String { get {} }
    open var middleName: String { get {} }
    open var familyName: String { get {} }
    open var nameSuffix: String { get {} }
    open var nickname: String { get {} }
    open var organizationName: String { get {} }
    open var note: String { get {} }
    open var phoneNumbers: [CNLabeledValue<CNPhoneNumber>] { get {} }
    open var emailAddresses: [CNLabeledValue<NSString>] { get {} }
    open var urlAddresses: [CNLabeledValue<NSString>] { get {} }
    open var birthday: DateComponents? { get {} }
}

// developer.apple.com/documentation/contacts/cnmutablecontact
open class CNMutableContact: CNContact {
    public init() {}
    open override var namePrefix: String { get {} set {} }
    open override var givenName: String { get {} set {} }
    open override var middleName: String { get {} set {} }
    open override var familyName: String { get {} set {} }
    open override var nameSuffix: String { get {} set {} }
    open override var nickname: String { get {} set {} }
    open override var organizationName: String { get {} set {} }
    open override var note: String { get {} set {} }
    open override var phoneNumbers: [CNLabeledValue<CNPhoneNumber>] { get {} set {} }
    open override var emailAddresses: [CNLabeledValue<NSString>] { get {} set {} }
    open override var urlAddresses: [CNLabeledValue<NSString>] { get {} set {} }
    open override var birthday: DateComponents? { get {} set {} }
}
