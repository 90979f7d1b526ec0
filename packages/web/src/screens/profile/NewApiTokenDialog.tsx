import { zodResolver } from '@hookform/resolvers/zod';
import { ApiTokenScope, apiTokenDays, apiTokenScopes, grantableScopes, type User } from '@lamina/contract';
import { Checkbox, MultiSelect, NativeSelect, Stack, TextInput } from '@mantine/core';
import { Controller, useForm } from 'react-hook-form';
import { z } from 'zod';
import { type CreatedApiToken, createApiToken, useDatasetNames } from '../../api/api-tokens.ts';
import { messageOf } from '../../api/client.ts';
import { FormDialog } from '../../components/FormDialog.tsx';
import { OptionsFailed } from '../../components/OptionsFailed.tsx';
import { failWith } from '../../forms/validation.ts';
import { chosenLanguageOr } from '../../language/language.ts';
import { announce } from '../../notifications/notify.ts';
import { texts } from './texts.ts';

const lifetimeOptionsDays = [7, 30, apiTokenDays.default, 180, apiTokenDays.max]; // ascending: the default is 90, the maximum 365

/** The values of the form. `days` is a string because it is the value of a select field. */
const NewToken = z.object({
  name: z
    .string()
    .trim()
    .min(
      1,
      failWith(() => texts.apiTokenNameRequired), // a function, because the language may change
    )
    .max(
      100, // the limit of the API
      failWith(() => texts.apiTokenNameTooLong),
    ),
  scopes: z.array(ApiTokenScope).min(
    1,
    failWith(() => texts.apiTokenScopesRequired),
  ),
  datasets: z.array(z.string()),
  days: z.string(),
});

interface NewApiTokenDialogProps {
  readonly user: User;
  readonly onCreated: (token: CreatedApiToken) => void;
  readonly onClose: () => void;
}

/** Dialog that asks for the name, scopes, datasets and lifetime of a new API token, and creates it. */
export function NewApiTokenDialog({ user, onCreated, onClose }: NewApiTokenDialogProps) {
  const datasets = useDatasetNames();
  const { register, control, handleSubmit, formState } = useForm<z.infer<typeof NewToken>>({
    resolver: zodResolver(NewToken),
    defaultValues: { name: '', scopes: ['slides:read'], datasets: [], days: String(apiTokenDays.default) },
  });
  const { errors } = formState;

  const submit = handleSubmit(async ({ name, scopes, datasets: chosenDatasets, days }) => {
    const result = await createApiToken({
      name,
      scopes,
      // Without datasets, the token has access to all datasets of the account.
      ...(chosenDatasets.length > 0 && { datasets: chosenDatasets }),
      expires_in_days: Number(days),
    });
    if (result.success) onCreated(result.created);
    else announce(result);
  });

  return (
    <FormDialog
      title={texts.newApiToken}
      submitLabel={texts.createApiToken}
      isRunning={formState.isSubmitting}
      // Without the list of datasets, a user who wants to limit the token would create one for all datasets.
      isSubmitDisabled={datasets.data === undefined}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      <TextInput
        {...register('name')}
        label={texts.apiTokenName}
        description={texts.apiTokenNameHint}
        error={errors.name?.message}
        data-autofocus
      />
      <Controller
        control={control}
        name="scopes"
        render={({ field }) => (
          <Checkbox.Group
            label={texts.apiTokenScopes}
            error={errors.scopes?.message}
            value={field.value}
            onChange={field.onChange}
          >
            <Stack gap="xs" my="xs">
              {/* 'tr': the language of the labels until the user chooses one. */}
              {grantableScopes(user).map((scope) => (
                <Checkbox key={scope} value={scope} label={apiTokenScopes[scope][chosenLanguageOr('tr')]} />
              ))}
            </Stack>
          </Checkbox.Group>
        )}
      />
      <Controller
        control={control}
        name="datasets"
        render={({ field }) => (
          <MultiSelect
            label={texts.apiTokenDatasets}
            description={texts.apiTokenDatasetsHint}
            error={
              datasets.isLoadingError && (
                <OptionsFailed
                  message={messageOf(datasets.error, texts.apiTokenDatasetsFailed)}
                  onRetry={() => void datasets.refetch()}
                />
              )
            }
            data={[...(datasets.data ?? [])]}
            value={field.value}
            onChange={field.onChange}
            searchable
            comboboxProps={{ withinPortal: false }}
          />
        )}
      />
      <NativeSelect
        {...register('days')}
        label={texts.apiTokenDays}
        data={lifetimeOptionsDays.map((count) => ({ value: String(count), label: texts.days(count) }))}
      />
    </FormDialog>
  );
}
