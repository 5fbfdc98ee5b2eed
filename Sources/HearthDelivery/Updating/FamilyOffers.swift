import HearthBase
import HearthCatalog
import HearthStore

/// The offers of the sources for this device.
package struct FamilyOffers: Sendable {
    /// One offer for each family.
    package var offers: [Offer]
    /// Why a family keeps its release, for the families that a source was asked about.
    package var stays: [Family: NoUpdate] = [:]
    /// The first failure: a source did not answer, or several origins list one family.
    package var problem: (any Error)?
    /// The sources that did not answer; their last lists are used instead.
    package var cachedLists: [CachedList] = []
    /// The signed sources whose signatures end soon.
    package var expiring: [ExpiringSignatures] = []
}
