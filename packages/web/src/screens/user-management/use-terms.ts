import { type RefObject, useRef, useState } from 'react';
import type { ChosenTerms } from './terms.ts';

/** Properties of `TermsFields`. */
export interface TermsFieldsProps {
  readonly terms: ChosenTerms;
  readonly onChange: (terms: ChosenTerms) => void;
  readonly dateField: RefObject<HTMLInputElement | null>;
  /** Whether the end date shows that it is incomplete or out of range. */
  readonly hasDateError: boolean;
}

interface TermsForm {
  readonly terms: ChosenTerms;
  readonly fields: TermsFieldsProps;
  /** Returns whether the end date is valid. If not, its field shows an error and gets the focus. */
  readonly validate: () => boolean;
}

/** State of the fields for the terms of an account (its restricted datasets and its end date), for a dialog that submits them. */
export function useTerms(initialTerms: ChosenTerms): TermsForm {
  const [terms, setTerms] = useState(initialTerms);
  const [hasDateError, setDateError] = useState(false);
  const dateField = useRef<HTMLInputElement>(null);
  return {
    terms,
    fields: {
      terms,
      onChange: (changedTerms) => {
        setTerms(changedTerms);
        setDateError(false);
      },
      dateField,
      hasDateError,
    },
    validate: () => {
      // Asks the browser: the value of an incompletely typed date is empty, which would mean that the account has no end date.
      const isValid = dateField.current?.validity.valid ?? true;
      setDateError(!isValid);
      if (!isValid) dateField.current?.focus();
      return isValid;
    },
  };
}
