import Contracts

import struct Foundation.TimeInterval

/// Apple's billing periods and limits, in seconds.
public enum BillingRules {
    /// How long Apple tries to charge after the end of a period: 60 days, and 90 within a commitment that is paid monthly.
    /// - Parameter billingPlanType: of the transaction that ended.
    public static func billingRetry(of billingPlanType: String?) -> TimeInterval {
        (billingPlanType == "MONTHLY" ? 90 : 60) * day
    }

    /// The longest grace period that App Store Connect offers.
    static let longestGrace: TimeInterval = 28 * day

    /// The parts of one answer of Apple, or of one notification, are signed within it.
    static let oneAnswer: TimeInterval = 60

    /// One day.
    public static let day: TimeInterval = 86_400

    /// Days of paid service after which the developer keeps 85 % instead of 70 %.
    public static let reducedCommissionDays: Double = 365

    /// How long before the end of a period Apple may charge for the next one. The sandbox counts months in minutes.
    public static func earlyRenewal(in environment: StoreEnvironment) -> TimeInterval {
        environment == .production ? day : 60
    }

    /// The longest gap after which service still counts as unbroken.
    public static func loyaltyGap(in environment: StoreEnvironment) -> TimeInterval {
        environment == .production ? 60 * day : 600
    }
}
