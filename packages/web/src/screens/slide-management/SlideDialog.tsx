import type { ManagedImage } from '@lamina/contract';
import { Modal } from '@mantine/core';
import { useReturnFocus } from '../../components/use-return-focus.ts';
import { texts as shared } from '../../texts.ts';
import { EditForm } from './EditForm.tsx';
import { MoveForm } from './MoveForm.tsx';
import { RemoveForm } from './RemoveForm.tsx';
import { texts } from './texts.ts';

/** What is to be asked before something is done, and of which slides: one, or many. */
export interface DialogRequest {
  readonly kind: 'edit' | 'move' | 'remove';
  /** Not empty. */
  readonly slides: readonly ManagedImage[];
}

interface SlideDialogProps {
  readonly request: DialogRequest;
  readonly onClose: () => void;
  /** It has been done. */
  readonly onDone: () => void;
}

/** What a form inside the dialog is given. */
export interface SlideFormProps {
  readonly slides: readonly ManagedImage[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const forms = { edit: EditForm, move: MoveForm, remove: RemoveForm };

export function SlideDialog({ request: { kind, slides }, onClose, onDone }: SlideDialogProps) {
  useReturnFocus();
  const Form = forms[kind];
  const titles = { edit: texts.editTitle, move: texts.moveTitle, remove: texts.removeTitle };
  return (
    <Modal
      opened
      onClose={onClose}
      title={titles[kind]}
      closeButtonProps={{ 'aria-label': shared.close }}
      centered
      withinPortal={false}
    >
      <Form slides={slides} onClose={onClose} onDone={onDone} />
    </Modal>
  );
}
