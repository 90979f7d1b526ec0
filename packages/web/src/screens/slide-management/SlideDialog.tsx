import { Modal } from '@mantine/core';
import { useReturnFocus } from '../../components/use-return-focus.ts';
import { texts as sharedTexts } from '../../language/texts.ts';
import type { DialogRequest } from './dialog-request.ts';
import { EditForm } from './EditForm.tsx';
import { MoveForm } from './MoveForm.tsx';
import { OrganForm } from './OrganForm.tsx';
import { RemoveForm } from './RemoveForm.tsx';
import { texts } from './texts.ts';

interface SlideDialogProps {
  readonly request: DialogRequest;
  readonly onClose: () => void;
  /** Called after the slides have been changed. */
  readonly onDone: () => void;
}

const forms = { edit: EditForm, move: MoveForm, organ: OrganForm, remove: RemoveForm };

/** Dialog of the slides screen in which an administrator edits, moves or removes slides, or sets their organ. */
export function SlideDialog({ request: { kind, slides }, onClose, onDone }: SlideDialogProps) {
  useReturnFocus();
  const Form = forms[kind];
  const titles = {
    edit: texts.editTitle,
    move: texts.moveTitle,
    organ: texts.organTitle,
    remove: texts.removeTitle,
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={titles[kind]}
      closeButtonProps={{ 'aria-label': sharedTexts.close }}
      centered
      withinPortal={false} // keeps it inside `main`: elsewhere, the dialog's `header` would count as a second header of the page
    >
      <Form slides={slides} onClose={onClose} onDone={onDone} />
    </Modal>
  );
}
