-- Purchases that were lost are figures, too, so that churn does not read all movements of a year: kinds lostInDay and lostInMonth of
-- insight_day, the second by the first day of its month. Their step is a set of bits: bit n is set where the purchase is lost in a
-- question that tells apart the dimensions whose numbers add up to n (currency 1, product 2, storefront 4, period 8, offer 16).

-- Every purchase is computed again; until then no figure is shown. A migration of the same transaction may have queued it.
insert into insight_change (environment, original_transaction_id)
select environment, original_transaction_id from subscription
on conflict do nothing;
update insight_position set as_of = null;
