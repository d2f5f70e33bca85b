-- Carriers that want the other form of numbers of Argentina and Mexico (links/settings.ts).
update carriers set settings = settings || '{"recipient_other_form": []}'::jsonb where not settings ? 'recipient_other_form';
