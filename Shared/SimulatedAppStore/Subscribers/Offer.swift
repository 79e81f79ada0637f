import AppStore

/// A price reduction that applies to a purchase.
struct Offer: Sendable, Hashable {
    enum Kind: Int64, Sendable, Hashable, CaseIterable {
        case introductory = 1
        case promotional = 2
        case code = 3
        case winBack = 4
    }

    enum Payment: Sendable, Hashable, CaseIterable {
        case freeTrial, payAsYouGo, payUpFront
    }

    var kind: Kind
    var payment: Payment
    /// What one payment covers; nil is the product's own period.
    var period: Product.Period?
    /// Its identifier where a person or the developer's server named it; nil is the simulator's own.
    var name: String?

    static let freeWeek = Offer(kind: .introductory, payment: .freeTrial, period: .week)
    static let winBack = Offer(kind: .winBack, payment: .payUpFront, period: .threeMonths)

    /// Introductory offers have no name.
    var identifier: String? {
        if let name { return name }
        return switch kind {
        case .introductory: nil
        case .promotional: "spring.half"
        case .code: "NEWSLETTER"
        case .winBack: "come.back"
        }
    }

    var type: OfferType { OfferType(rawValue: kind.rawValue) }

    var discountType: OfferDiscountType {
        switch payment {
        case .freeTrial: .freeTrial
        case .payAsYouGo: .payAsYouGo
        case .payUpFront: .payUpFront
        }
    }

    /// An offer code for one period at half the price.
    static func code(_ name: String) -> Offer { Offer(kind: .code, payment: .payAsYouGo, name: name) }

    /// Half the price, or nothing.
    func price(of product: Product) -> Int64 { payment == .freeTrial ? 0 : product.price / 2 }

    static func random(_ kind: Kind, using random: inout SeededRandom) -> Offer {
        let payment = random.element(of: Payment.allCases)
        let period: Product.Period? =
            switch payment {
            case .freeTrial: random.chance(0.5) ? .week : .month
            case .payAsYouGo: nil
            case .payUpFront: random.chance(0.5) ? .threeMonths : .sixMonths
            }
        return Offer(kind: kind, payment: payment, period: period)
    }
}
