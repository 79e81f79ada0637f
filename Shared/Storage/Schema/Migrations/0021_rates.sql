-- What operators tell of money: exchange rates, taxes within prices, and who pays Apple's lower commission. No row names an account.

-- What one unit of a currency is worth on a day, in a reporting currency.
create table exchange_rate (
    loaded_at timestamptz not null,
    trillionths bigint not null check (trillionths > 0), -- of a unit of the reporting currency
    day date not null,
    reporting_currency text not null,
    currency text not null check (currency <> reporting_currency),
    source text not null, -- whose rates they are, as the operator names them
    primary key (reporting_currency, currency, day)
);

-- The tax that prices of a storefront include, from a day until that of the storefront's next row.
create table tax_share (
    loaded_at timestamptz not null,
    from_day date not null,
    rate integer not null check (rate between 0 and 100000), -- thousandths of a percent of the price without tax
    storefront text not null,
    source text not null,
    primary key (storefront, from_day)
);

-- Whether an app's developer is in Apple's App Store Small Business Program, from a day until that of the app's next row.
create table small_business (
    loaded_at timestamptz not null,
    from_day date not null,
    is_member boolean not null,
    bundle_id text not null,
    primary key (bundle_id, from_day)
);

-- Refunds tell whether the charge was a loyal one (step 1), whose commission is lower. Purchases that have both are computed again.
insert into insight_change (environment, original_transaction_id)
select environment, original_transaction_id
from insight_purchase
where figures::text like '%"loyalCharge"%' and figures::text like '%"refund"%'
on conflict do nothing;
