/// The errors of in-app requests of Advanced Commerce, which the app has from StoreKit:
/// ``OfferSigner/advancedCommerceRequest(_:nonce:now:)``.
///
/// <https://developer.apple.com/documentation/advancedcommerceapi/errorcodes>
extension APIErrorCode {
    /// The currency cannot be used.
    public static let invalidCurrency = APIErrorCode(rawValue: 4_000_053)
    /// A modification changes nothing.
    public static let oneItemNeededInModify = APIErrorCode(rawValue: 4_000_063)
    /// There is no version.
    public static let nullVersion = APIErrorCode(rawValue: 4_000_083)
    /// The version of the request does not exist.
    public static let unexpectedVersion = APIErrorCode(rawValue: 4_000_084)
    /// There is no transactionId.
    public static let nullTransactionId = APIErrorCode(rawValue: 4_000_085)
    /// A prorated price is below 0.
    public static let negativeProratedPrice = APIErrorCode(rawValue: 4_000_091)
    /// An offer has no period.
    public static let nullOfferPeriod = APIErrorCode(rawValue: 4_000_092)
    /// An offer has no periodCount.
    public static let nullPeriodCount = APIErrorCode(rawValue: 4_000_093)
    /// The periodCount of an offer is not above 0.
    public static let periodCountNotPositive = APIErrorCode(rawValue: 4_000_094)
    /// There is no reason.
    public static let nullReason = APIErrorCode(rawValue: 4_000_095)
    /// The previousTransactionId is none of the customer.
    public static let invalidPreviousTransactionId = APIErrorCode(rawValue: 4_000_096)
    /// There is no currency.
    public static let nullCurrency = APIErrorCode(rawValue: 4_000_098)
    /// There is no storefront.
    public static let nullStorefront = APIErrorCode(rawValue: 4_000_100)
    /// There is no item.
    public static let nullItem = APIErrorCode(rawValue: 4_000_102)
    /// There is no period.
    public static let nullPeriod = APIErrorCode(rawValue: 4_000_104)
    /// There is no retainBillingCycle.
    public static let nullRetainBillingCycle = APIErrorCode(rawValue: 4_000_110)
    /// A changed item has no new SKU.
    public static let nullNewSKU = APIErrorCode(rawValue: 4_000_112)
    /// The previous subscription cannot be continued.
    public static let invalidPreviousSubscription = APIErrorCode(rawValue: 4_000_113)
    /// The customer has the SKU.
    public static let productAlreadyExists = APIErrorCode(rawValue: 4_000_114)
    /// The product is none for items of the developer.
    public static let invalidSalable = APIErrorCode(rawValue: 4_000_116)
    /// The duration of the product does not fit.
    public static let invalidSalableDuration = APIErrorCode(rawValue: 4_000_117)
    /// The reason of a change does not exist.
    public static let invalidChangeReason = APIErrorCode(rawValue: 4_000_125)
    /// The reason of an offer does not exist.
    public static let invalidOfferReason = APIErrorCode(rawValue: 4_000_126)
    /// The period of an offer does not exist.
    public static let invalidOfferPeriod = APIErrorCode(rawValue: 4_000_128)
    /// The periodCount of an offer is not permitted.
    public static let invalidOfferPeriodCount = APIErrorCode(rawValue: 4_000_129)
    /// The period of a renewal does not exist.
    public static let invalidRenewalPeriod = APIErrorCode(rawValue: 4_000_130)
    /// The price of a renewal is not permitted.
    public static let invalidRenewalPrice = APIErrorCode(rawValue: 4_000_131)
    /// The amount is not permitted.
    public static let invalidAmount = APIErrorCode(rawValue: 4_000_132)
    /// There are too many items.
    public static let moreItemsThanAllowed = APIErrorCode(rawValue: 4_000_136)
    /// There are too many offers.
    public static let moreOffersThanAllowed = APIErrorCode(rawValue: 4_000_137)
    /// A list of items to add or change is empty.
    public static let emptyAddChangeItems = APIErrorCode(rawValue: 4_000_139)
    /// The period changes, and not all items with it.
    public static let missingUpdatedItemsWithPeriodChange = APIErrorCode(rawValue: 4_000_140)
    /// The period is reset, and the billing cycle is to stay.
    public static let periodResetWithRetainBillingCycle = APIErrorCode(rawValue: 4_000_141)
    /// An item is added at once, and the period changes later.
    public static let periodChangeEffectiveConflict = APIErrorCode(rawValue: 4_000_142)
    /// One SKU is changed twice.
    public static let multipleOperationsOnSingleSKU = APIErrorCode(rawValue: 4_000_143)
    /// Items are removed, and none is added or changed.
    public static let removeItemsWithoutAddOrChangeItems = APIErrorCode(rawValue: 4_000_144)
    /// An item to remove is none of the subscription.
    public static let removeItemNotFound = APIErrorCode(rawValue: 4_000_145)
    /// An item to change is none of the subscription.
    public static let changeItemNotFound = APIErrorCode(rawValue: 4_000_146)
    /// A period does not fit the billing cycle.
    public static let misalignedBillingCycle = APIErrorCode(rawValue: 4_000_147)
    /// The billing cycle is reset, and a change takes effect later.
    public static let billingCycleResetWithEffectiveLater = APIErrorCode(rawValue: 4_000_148)
    /// The period changes at once, and an item later.
    public static let periodChangeImmediateWithEffectiveLater = APIErrorCode(rawValue: 4_000_149)
    /// An item has a prorated price and an offer.
    public static let multiplePrices = APIErrorCode(rawValue: 4_000_150)
    /// A prorated price is not permitted.
    public static let invalidProratedPrice = APIErrorCode(rawValue: 4_000_151)
    /// The price of an offer is above the regular one.
    public static let invalidOfferPrice = APIErrorCode(rawValue: 4_000_152)
    /// No item would be left.
    public static let removalAllNotAllowed = APIErrorCode(rawValue: 4_000_168)
    /// There is no currentSKU.
    public static let nullCurrentSKU = APIErrorCode(rawValue: 4_000_169)
    /// The app gave StoreKit no request.
    public static let nullAdvancedCommerceData = APIErrorCode(rawValue: 4_000_171)
    /// The operation does not exist.
    public static let invalidOperation = APIErrorCode(rawValue: 4_000_172)
    /// The signature is not that of the request.
    public static let invalidSignature = APIErrorCode(rawValue: 4_000_174)
    /// An item in an offer cannot change within its period.
    public static let offerPreventsItemMidCycleChange = APIErrorCode(rawValue: 4_000_177)
    /// A modification cannot change a price.
    public static let priceChangeNotSupportedThroughModifyItems = APIErrorCode(rawValue: 4_000_178)
    /// The subscription would have too many items.
    public static let itemLimitExceeded = APIErrorCode(rawValue: 4_000_179)
    /// A renewalItem is missing for a pending change, or given without one.
    public static let pendingChangesMismatch = APIErrorCode(rawValue: 4_000_180)
    /// The price of a changed item does not fit its price increase.
    public static let invalidPriceForChangeItemInPriceIncrease = APIErrorCode(rawValue: 4_000_214)
    /// India has no price increases of Advanced Commerce.
    public static let priceIncreaseNotSupportedInIndia = APIErrorCode(rawValue: 4_000_221)
    /// A change that takes effect later has a prorated price.
    public static let invalidProratedPriceWithEffectiveLater = APIErrorCode(rawValue: 4_000_222)
    /// The periodCount of a free trial is not 1.
    public static let freeTrialOfferWithOtherPeriodCount = APIErrorCode(rawValue: 4_000_223)
    /// The key may not do it.
    public static let unauthorized = APIErrorCode(rawValue: 4_010_000)
    /// The customer has the subscription.
    public static let subscriptionAlreadyExists = APIErrorCode(rawValue: 4_030_009)
    /// The subscription is active.
    public static let subscriptionAlreadyActive = APIErrorCode(rawValue: 4_030_011)
    /// The customer moved to another storefront.
    public static let storefrontChange = APIErrorCode(rawValue: 4_030_022)

    static let ofInAppRequests: Set<APIErrorCode> = [
        .invalidCurrency, .oneItemNeededInModify, .nullVersion, .unexpectedVersion, .nullTransactionId,
        .negativeProratedPrice, .nullOfferPeriod, .nullPeriodCount, .periodCountNotPositive, .nullReason,
        .invalidPreviousTransactionId, .nullCurrency, .nullStorefront, .nullItem, .nullPeriod, .nullRetainBillingCycle,
        .nullNewSKU, .invalidPreviousSubscription, .productAlreadyExists, .invalidSalable, .invalidSalableDuration,
        .invalidChangeReason, .invalidOfferReason, .invalidOfferPeriod, .invalidOfferPeriodCount,
        .invalidRenewalPeriod, .invalidRenewalPrice, .invalidAmount, .moreItemsThanAllowed, .moreOffersThanAllowed,
        .emptyAddChangeItems, .missingUpdatedItemsWithPeriodChange, .periodResetWithRetainBillingCycle,
        .periodChangeEffectiveConflict, .multipleOperationsOnSingleSKU, .removeItemsWithoutAddOrChangeItems,
        .removeItemNotFound, .changeItemNotFound, .misalignedBillingCycle, .billingCycleResetWithEffectiveLater,
        .periodChangeImmediateWithEffectiveLater, .multiplePrices, .invalidProratedPrice, .invalidOfferPrice,
        .removalAllNotAllowed, .nullCurrentSKU, .nullAdvancedCommerceData, .invalidOperation, .invalidSignature,
        .offerPreventsItemMidCycleChange, .priceChangeNotSupportedThroughModifyItems, .itemLimitExceeded,
        .pendingChangesMismatch, .invalidPriceForChangeItemInPriceIncrease, .priceIncreaseNotSupportedInIndia,
        .invalidProratedPriceWithEffectiveLater, .freeTrialOfferWithOtherPeriodCount, .unauthorized,
        .subscriptionAlreadyExists, .subscriptionAlreadyActive, .storefrontChange,
    ]
}
