/// The errors of the Advanced Commerce API.
///
/// <https://developer.apple.com/documentation/advancedcommerceapi/errorcodes>
extension APIErrorCode {
    /// There is no requestInfo.
    public static let nullRequestInfo = APIErrorCode(rawValue: 4_000_079)
    /// There is no requestReferenceId.
    public static let nullRequestReferenceId = APIErrorCode(rawValue: 4_000_080)
    /// The requestReferenceId is no UUID.
    public static let invalidRequestReferenceId = APIErrorCode(rawValue: 4_000_081)
    /// The consistencyToken is not the newest one.
    public static let invalidConsistencyToken = APIErrorCode(rawValue: 4_000_082)
    /// A price is below 0.
    public static let negativePrice = APIErrorCode(rawValue: 4_000_086)
    /// A SKU is longer than 128 characters.
    public static let skuLengthExceeded = APIErrorCode(rawValue: 4_000_087)
    /// A description is longer than 45 characters.
    public static let descriptionLengthExceeded = APIErrorCode(rawValue: 4_000_088)
    /// A name is longer than 30 characters.
    public static let displayNameLengthExceeded = APIErrorCode(rawValue: 4_000_089)
    /// A request with this requestReferenceId arrived before.
    public static let repeatedRequestReferenceId = APIErrorCode(rawValue: 4_000_097)
    /// There is no tax code.
    public static let nullTaxCode = APIErrorCode(rawValue: 4_000_099)
    /// There are no items.
    public static let nullItems = APIErrorCode(rawValue: 4_000_101)
    /// There are no descriptors.
    public static let nullDescriptors = APIErrorCode(rawValue: 4_000_103)
    /// An item has no SKU.
    public static let nullSKU = APIErrorCode(rawValue: 4_000_105)
    /// An item has no name.
    public static let nullDisplayName = APIErrorCode(rawValue: 4_000_106)
    /// An item has no description.
    public static let nullDescription = APIErrorCode(rawValue: 4_000_107)
    /// An item has no price.
    public static let nullPrice = APIErrorCode(rawValue: 4_000_109)
    /// It is not said when a change takes effect.
    public static let nullEffective = APIErrorCode(rawValue: 4_000_111)
    /// The changes cannot be made.
    public static let invalidProductChanges = APIErrorCode(rawValue: 4_000_115)
    /// The name cannot be used.
    public static let invalidDisplayName = APIErrorCode(rawValue: 4_000_118)
    /// The description cannot be used.
    public static let invalidDescription = APIErrorCode(rawValue: 4_000_119)
    /// The product is none of Advanced Commerce.
    public static let invalidProduct = APIErrorCode(rawValue: 4_000_121)
    /// The SKU is none of the purchase.
    public static let invalidSKU = APIErrorCode(rawValue: 4_000_122)
    /// The kind of refund does not exist, or does not fit.
    public static let invalidRefundType = APIErrorCode(rawValue: 4_000_123)
    /// The reason of a refund does not exist.
    public static let invalidRefundReason = APIErrorCode(rawValue: 4_000_124)
    /// The tax code does not exist.
    public static let invalidTaxProductCode = APIErrorCode(rawValue: 4_000_127)
    /// The storefront is not the customer's.
    public static let mismatchedStorefront = APIErrorCode(rawValue: 4_000_133)
    /// The product has no price in the storefront.
    public static let missingPricingConfigForStorefront = APIErrorCode(rawValue: 4_000_134)
    /// The operation is not permitted for the purchase.
    public static let operationNotAllowed = APIErrorCode(rawValue: 4_000_135)
    /// A refund of an amount has none.
    public static let nullRefundAmount = APIErrorCode(rawValue: 4_000_153)
    /// The amount of a refund is below 0.
    public static let negativeRefundAmount = APIErrorCode(rawValue: 4_000_154)
    /// Only a refund of the type CUSTOM may have an amount.
    public static let refundAmountWithoutCustom = APIErrorCode(rawValue: 4_000_155)
    /// There is no reason of a refund.
    public static let nullRefundReason = APIErrorCode(rawValue: 4_000_156)
    /// There is no kind of refund.
    public static let nullRefundType = APIErrorCode(rawValue: 4_000_157)
    /// Only the sandbox declines a refund by request.
    public static let simulateRefundDeclineOnlyInSandbox = APIErrorCode(rawValue: 4_000_158)
    /// There is no refundRiskingPreference.
    public static let nullRefundRiskingPreference = APIErrorCode(rawValue: 4_000_159)
    /// The list of items is empty.
    public static let atLeastOneItem = APIErrorCode(rawValue: 4_000_160)
    /// Neither a name nor a description is given.
    public static let atLeastOneOfDisplayNameOrDescription = APIErrorCode(rawValue: 4_000_165)
    /// There is no product to migrate to.
    public static let nullTargetProductId = APIErrorCode(rawValue: 4_000_166)
    /// The product to migrate to does not exist.
    public static let invalidTargetProductId = APIErrorCode(rawValue: 4_000_167)
    /// The request is no JSON of the operation.
    public static let malformedPayload = APIErrorCode(rawValue: 4_000_173)
    /// The subscription is one of Advanced Commerce.
    public static let subscriptionAlreadyMigrated = APIErrorCode(rawValue: 4_000_176)
    /// A refund has been requested and not decided.
    public static let pendingRefund = APIErrorCode(rawValue: 4_000_181)
    /// Only the latest transaction can be refunded in part.
    public static let proratedOnlyLatestTransaction = APIErrorCode(rawValue: 4_000_182)
    /// Some items ask the sandbox to decline, and others do not.
    public static let partialSimulateRefundDecline = APIErrorCode(rawValue: 4_000_184)
    /// The subscription has ended.
    public static let revokeOnInactiveSubscription = APIErrorCode(rawValue: 4_000_186)
    /// Two items name the same dependent SKU.
    public static let dependentSKUsCannotBeShared = APIErrorCode(rawValue: 4_000_192)
    /// A dependent SKU has dependent SKUs.
    public static let dependentSKUsCannotBeChained = APIErrorCode(rawValue: 4_000_193)
    /// An item is named twice.
    public static let itemCannotBeSpecifiedMultipleTimes = APIErrorCode(rawValue: 4_000_194)
    /// Customers were told about a price change before.
    public static let priceChangeAlreadyCommunicated = APIErrorCode(rawValue: 4_000_205)
    /// The SKU is not one that renews.
    public static let skuIsNotSetToRenew = APIErrorCode(rawValue: 4_000_220)
    /// No such subscription.
    public static let subscriptionDoesNotExist = APIErrorCode(rawValue: 4_030_008)
    /// The subscription is none of Advanced Commerce, or its state does not permit it.
    public static let subscriptionNotEligible = APIErrorCode(rawValue: 4_030_010)
    /// The product is another developer's.
    public static let productNotOwned = APIErrorCode(rawValue: 4_030_013)
    /// The subscription is not active.
    public static let inactiveAdvancedCommerceSubscription = APIErrorCode(rawValue: 4_030_015)
    /// The developer's balance does not cover the refund.
    public static let insufficientFunds = APIErrorCode(rawValue: 4_030_020)
    /// The transaction was refunded.
    public static let alreadyRefunded = APIErrorCode(rawValue: 4_030_021)
    /// The product is not permitted Advanced Commerce.
    public static let productNotEligible = APIErrorCode(rawValue: 4_030_023)
    /// The transaction cannot be refunded.
    public static let transactionNotRefundable = APIErrorCode(rawValue: 4_030_024)
    /// Only Apple's support can refund it.
    public static let transactionCannotBeRefundedContactSupport = APIErrorCode(rawValue: 4_030_025)
    /// Customers were told about a price increase before.
    public static let migrationNotAllowedWhenPriceIncreaseCommunicated = APIErrorCode(rawValue: 4_030_027)
    /// No such product.
    public static let productNotFound = APIErrorCode(rawValue: 4_040_016)

    static let ofAdvancedCommerce: Set<APIErrorCode> = [
        .nullRequestInfo, .nullRequestReferenceId, .invalidRequestReferenceId, .invalidConsistencyToken,
        .negativePrice, .skuLengthExceeded, .descriptionLengthExceeded, .displayNameLengthExceeded,
        .repeatedRequestReferenceId, .nullTaxCode, .nullItems, .nullDescriptors, .nullSKU, .nullDisplayName,
        .nullDescription, .nullPrice, .nullEffective, .invalidProductChanges, .invalidDisplayName,
        .invalidDescription, .invalidProduct, .invalidSKU, .invalidRefundType, .invalidRefundReason,
        .invalidTaxProductCode, .mismatchedStorefront, .missingPricingConfigForStorefront, .operationNotAllowed,
        .nullRefundAmount, .negativeRefundAmount, .refundAmountWithoutCustom, .nullRefundReason, .nullRefundType,
        .simulateRefundDeclineOnlyInSandbox, .nullRefundRiskingPreference, .atLeastOneItem,
        .atLeastOneOfDisplayNameOrDescription, .nullTargetProductId, .invalidTargetProductId, .malformedPayload,
        .subscriptionAlreadyMigrated, .pendingRefund, .proratedOnlyLatestTransaction, .partialSimulateRefundDecline,
        .revokeOnInactiveSubscription, .dependentSKUsCannotBeShared, .dependentSKUsCannotBeChained,
        .itemCannotBeSpecifiedMultipleTimes, .priceChangeAlreadyCommunicated, .skuIsNotSetToRenew,
        .subscriptionDoesNotExist, .subscriptionNotEligible, .productNotOwned, .inactiveAdvancedCommerceSubscription,
        .insufficientFunds, .alreadyRefunded, .productNotEligible, .transactionNotRefundable,
        .transactionCannotBeRefundedContactSupport, .migrationNotAllowedWhenPriceIncreaseCommunicated,
        .productNotFound,
    ]
}
