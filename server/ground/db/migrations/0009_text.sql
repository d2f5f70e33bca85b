-- Alphabets and addresses of SMPP carriers: settings that are new, with their defaults.
update carriers
set settings = '{
  "data_codings_out": {}, "data_codings_in": {}, "long_code_ton": 1, "long_code_npi": 1, "short_code_ton": 0, "short_code_npi": 0,
  "alphanumeric_ton": 5, "alphanumeric_npi": 0, "recipient_ton": 1, "recipient_npi": 1, "country": ""
}' || settings
where kind <> 'http';
