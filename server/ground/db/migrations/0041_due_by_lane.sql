-- More may be due at once than is moved into line at once: each lane gets its share of that (server/queue/due.ts).
create index delayed_lane on delayed (lane_id, due_at);
