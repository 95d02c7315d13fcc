# Rows of one trip id that name several users become several units.
# tests: unit_test
sed -i 's/return columns->column_of\[ROLE_TRIP\] >= 0 ? same_field(a->trip, b->trip)/return columns->column_of[ROLE_TRIP] > 99 ? same_field(a->trip, b->trip)/; s/\*same &= user_same || columns->column_of\[ROLE_TRIP\] >= 0;/*same \&= user_same;/; s/has_trips ? dpl_hash(row->trip.text, row->trip.length, SEED_TRIP) : user,/has_trips ? dpl_hash(row->trip.text, row->trip.length, SEED_TRIP + user.lo) : user,/' src/ingest/csv.c
