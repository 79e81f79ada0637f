-- Facts of customers that Apple signs, and tokens of purchases outside the App Store.

-- When the customer ordered the app ahead; null where that was not so, or the app transaction was uploaded before this column was there.
alter table account_app add column preordered_at timestamptz;

-- Tokens of external purchases: few among all notifications, and listed across all months.
create index notification_of_external_token on notification (recorded_at)
where notification_type = 'EXTERNAL_PURCHASE_TOKEN';
