#if canImport(Contacts)
import Contacts
import Foundation
import HearthAssistant
import HearthBase

extension SystemContacts {
    /// The contacts of this device.
    /// - Parameter notes: whether to read and write notes, for which an app needs the entitlement
    ///   `com.apple.developer.contacts.notes`.
    public init(notes: Bool = false) {
        let database = ContactsFramework(hasNotes: notes)
        self.init(
            database,
            access: SystemAccess(
                .contacts, status: { ContactsFramework.state }, ask: { try await database.request() },
                isUnlocked: FirstUnlock.hasHappenedHere))
    }
}

/// The store of the Contacts framework on a thread of its own: its calls wait for another process.
actor ContactsFramework: ContactDatabase {
    private let executor = ThreadExecutor(name: "hearth.contacts")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    nonisolated let hasNotes: Bool
    private let store = CNContactStore()

    init(hasNotes: Bool) { self.hasNotes = hasNotes }

    static var state: AccessState {
        switch CNContactStore.authorizationStatus(for: .contacts) {
        case .notDetermined: .notDetermined
        case .restricted: .restricted
        case .denied: .denied
        case .authorized: .full
        // A Mac gives access to all contacts or to none.
        #if !os(macOS)
        case .limited: .limited
        #endif
        @unknown default: .denied
        }
    }

    func request() async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            store.requestAccess(for: .contacts) { isAllowed, error in
                // A refusal comes with an error; the state tells it.
                if let error, (error as NSError).code != CNError.Code.authorizationDenied.rawValue {
                    continuation.resume(throwing: error)
                } else {
                    continuation.resume(returning: isAllowed)
                }
            }
        }
    }

    private var keys: [any CNKeyDescriptor] {
        var names = [
            CNContactIdentifierKey, CNContactNamePrefixKey, CNContactGivenNameKey, CNContactMiddleNameKey,
            CNContactFamilyNameKey, CNContactNameSuffixKey, CNContactNicknameKey, CNContactOrganizationNameKey,
            CNContactPhoneNumbersKey, CNContactEmailAddressesKey, CNContactUrlAddressesKey, CNContactBirthdayKey,
        ]
        if hasNotes { names.append(CNContactNoteKey) }
        return names.map { NSString(string: $0) }
    }

    func contact(_ identifier: String) throws -> ContactCard? {
        try known(identifier).map { ContactCard($0, hasNotes: hasNotes) }
    }

    private func known(_ identifier: String) throws -> CNContact? {
        do {
            return try store.unifiedContact(withIdentifier: identifier, keysToFetch: keys)
        } catch let error as NSError
            where error.domain == CNErrorDomain && error.code == CNError.Code.recordDoesNotExist.rawValue
        {
            return nil
        } catch {
            throw SystemStoreError.contacts(error)
        }
    }

    func contacts() throws -> [ContactCard] {
        var cards: [ContactCard] = []
        do {
            try store.enumerateContacts(with: CNContactFetchRequest(keysToFetch: keys)) { contact, _ in
                cards.append(ContactCard(contact, hasNotes: hasNotes))
            }
        } catch {
            throw SystemStoreError.contacts(error)
        }
        return cards
    }

    func save(_ card: ContactCard) throws {
        let request = CNSaveRequest()
        if !card.identifier.isEmpty, let known = try known(card.identifier),
            let contact = known.mutableCopy() as? CNMutableContact
        {
            card.write(to: contact)
            request.update(contact)
        } else {
            let contact = CNMutableContact()
            card.write(to: contact)
            request.add(contact, toContainerWithIdentifier: nil)
        }
        try execute(request)
    }

    func remove(_ identifier: String) throws {
        guard let contact = try known(identifier)?.mutableCopy() as? CNMutableContact else { return }
        let request = CNSaveRequest()
        request.delete(contact)
        try execute(request)
    }

    private func execute(_ request: CNSaveRequest) throws {
        do {
            try store.execute(request)
        } catch {
            throw SystemStoreError.contacts(error)
        }
    }
}

extension SystemStoreError {
    /// The error for a failure of the Contacts framework.
    fileprivate static func contacts(_ error: any Error) -> any Error {
        let error = error as NSError
        guard error.domain == CNErrorDomain else { return SystemStoreError.failed(error.code) }
        switch CNError.Code(rawValue: error.code) {
        case .authorizationDenied: return SystemStoreError.notAuthorized
        case .unauthorizedKeys: return AssistantError.unusable("note", "this app may not read the notes of contacts")
        case .recordNotWritable, .parentContainerNotWritable, .noAccessableWritableContainers, .policyViolation:
            return AssistantError.unusable("contact", "the contact's account cannot be changed")
        case .validationMultipleErrors, .validationTypeMismatch, .validationConfigurationError:
            return AssistantError.unusable("contact", "the contacts of this device do not take one of its values")
        default: return SystemStoreError.failed(error.code)
        }
    }
}

extension ContactCard {
    fileprivate init(_ contact: CNContact, hasNotes: Bool) {
        identifier = contact.identifier
        (prefix, given, middle) = (contact.namePrefix, contact.givenName, contact.middleName)
        (family, suffix) = (contact.familyName, contact.nameSuffix)
        (nickname, organization) = (contact.nickname, contact.organizationName)
        numbers = contact.phoneNumbers.map { Entry(label: $0.label, value: $0.value.stringValue) }
        mails = contact.emailAddresses.map { Entry(label: $0.label, value: String($0.value)) }
        addresses = contact.urlAddresses.map { Entry(label: $0.label, value: String($0.value)) }
        note = hasNotes ? contact.note : nil
        birthday = contact.birthday
    }

    /// Writes what differs.
    fileprivate func write(to contact: CNMutableContact) {
        let old = ContactCard(contact, hasNotes: note != nil)
        (contact.namePrefix, contact.givenName, contact.middleName) = (prefix, given, middle)
        (contact.familyName, contact.nameSuffix) = (family, suffix)
        (contact.nickname, contact.organizationName) = (nickname, organization)
        if numbers != old.numbers {
            contact.phoneNumbers = numbers.map {
                CNLabeledValue(label: $0.label, value: CNPhoneNumber(stringValue: $0.value))
            }
        }
        if mails != old.mails { contact.emailAddresses = mails.map(\.text) }
        if addresses != old.addresses { contact.urlAddresses = addresses.map(\.text) }
        if let note, note != old.note { contact.note = note }
        if birthday != old.birthday { contact.birthday = birthday }
    }
}

extension ContactCard.Entry {
    fileprivate var text: CNLabeledValue<NSString> { CNLabeledValue(label: label, value: NSString(string: value)) }
}
#endif
