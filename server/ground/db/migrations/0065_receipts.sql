-- What a receipt speaks for: this many parts of a long message, 0: all, however many there are; null: the part whose id it names.
alter table receipts add column parts int;

-- The word that counts, of a receipt whose TLV and text have two last words that differ: this row has the other.
alter table receipts add column contradicts text;

-- For the doctor; of most carriers it is empty.
create index receipts_contradicting on receipts (link_id, received_at) where contradicts is not null;
